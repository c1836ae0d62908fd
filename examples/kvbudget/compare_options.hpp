#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kvbudget/io/engine_log/figures.hpp"
#include "log_settings.hpp"
#include "output.hpp"
#include "request.hpp"

namespace cli {

/// What `kvbudget compare` takes.
struct compare_options {
  request_options request;
  output_options output;
  std::string log;
  std::optional<std::string> calibrate;
};

/// What the user typed counts; the rest is what the log tells.
class told_options {
 public:
  explicit told_options(CLI::App& command) : command_(command) {}

  void take(const told_option& told);
  /// The same without a word about it.
  void take_silently(const char* name, const char* value);
  /// Whether the user typed the option, or another one that stands for it.
  [[nodiscard]] bool is_given(const std::string& name) const;
  /// Whether this very option was typed or told.
  [[nodiscard]] bool has(const char* name) const;
  [[nodiscard]] const std::vector<std::string>& doubts() const { return doubts_; }
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  CLI::App& command_;
  std::vector<std::string> taken_;
  std::vector<std::string> doubts_;
  std::vector<std::string> not_modelled_;
};

/// `compare` for a log of llama.cpp, Ollama, LM Studio or ik_llama.cpp.
int run_local_compare(CLI::App& command, compare_options& options, const kvbudget::engine_log& log);

}  // namespace cli
