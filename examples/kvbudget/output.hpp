#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kvbudget/report/text.hpp"

namespace cli {

enum class output_kind { text, json, markdown, csv };

/// How an answer is printed: `--json`, `--markdown`, `--csv`, `--svg FILE`, `--unit GB|GiB`.
class output_options {
 public:
  void add_json(CLI::App& command);
  void add_unit(CLI::App& command);
  /// All of them.
  void add_all(CLI::App& command);

  /// What was asked for; two at once throw `command_error`.
  [[nodiscard]] output_kind kind() const;
  /// `automatic` unless asked for.
  [[nodiscard]] kvbudget::byte_unit unit() const;
  [[nodiscard]] const std::optional<std::string>& svg_file() const { return svg_; }

 private:
  bool json_ = false;
  bool markdown_ = false;
  bool csv_ = false;
  std::optional<std::string> svg_;
  std::optional<std::string> unit_;
};

/// Prints JSON, indented by two.
void print_json(const nlohmann::ordered_json& value);
/// `note: ...` and `warning: ...`, one line each.
void print_remarks(const std::vector<std::string>& notes, const std::vector<std::string>& warnings);
/// Writes a whole file or throws `command_error`.
void write_file(const std::string& path, std::string_view content);
/// Whether standard output is a terminal that takes colours.
[[nodiscard]] bool wants_color();

}  // namespace cli
