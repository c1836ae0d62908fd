#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine_choice.hpp"
#include "kvbudget/units/literals.hpp"

namespace cli {

/// No size beyond this is believed: far more than any machine has, and sums stay in 64 bits.
inline constexpr kvbudget::bytes largest_size = kvbudget::tebibytes(std::uint64_t{1} << 20);

/// One option of one engine, under the engine's own name.
struct engine_option {
  const char* name;   ///< "--max-model-len"
  const char* value;  ///< what it takes, for the help; empty: nothing
  const char* what;
  void (*set)(any_engine& engine, const char* option, const std::string& text);
};

/// The options of the engine of that name, in the order of its documentation.
[[nodiscard]] const std::vector<engine_option>& options_of(const std::string& engine);

/// What llama.cpp's `--fit` is asked: to change the options, or only to say how it would.
enum class fit_mode { off, on, say };
[[nodiscard]] fit_mode fit_mode_in(const std::string& text);
/// `--fit-target`: one margin for all GPUs, or one for each of the first.
[[nodiscard]] std::vector<kvbudget::bytes> fit_targets_in(const std::string& text);

/// The options of all engines as they were typed.
class engine_options {
 public:
  /// Declares the options of all engines, each name once.
  void add_to(CLI::App& command);
  /// Sets what was given; an option that neither the engine nor one of `others` has throws `command_error`.
  void apply(any_engine& engine, const std::string& engine_name,
             const std::vector<std::string>& others = {}) const;
  [[nodiscard]] bool given(const std::string& name) const;
  [[nodiscard]] std::optional<std::string> value(const std::string& name) const;

 private:
  struct typed_text {
    std::optional<std::string> text;
    bool flag = false;
  };
  std::map<std::string, typed_text> given_;
};

}  // namespace cli
