#pragma once

#include <string>
#include <vector>

#include "kvbudget/io/engine_log/figures.hpp"

namespace cli {

/// A setting that a log tells, as this program's own option.
struct told_option {
  std::string name;   ///< "--max-model-len"
  std::string value;  ///< empty for a flag
  std::string from;   ///< the log's own words for it: "max_seq_len", "the version"
  std::string doubt;  ///< what to warn about where the option is taken; empty: nothing
};

/// What a log tells of the command that started the engine: engine and version, model, layout, limits,
/// formats. An option that several lines tell comes once, from the one that is most precise.
[[nodiscard]] std::vector<told_option> options_told_by(const kvbudget::engine_log& log,
                                                       std::vector<std::string>& warnings);

/// The same of a log of llama.cpp or a program that runs it (`engine_log::front_end`): sizes as the context
/// printed them, types of the caches, layers on GPUs, GPUs, and the model by its file or its own name.
[[nodiscard]] std::vector<told_option> options_told_by_local(const kvbudget::engine_log& log,
                                                             std::vector<std::string>& warnings);

/// The catalogue's name of a model that a log calls so: by its Hugging Face name, the folder of a download,
/// or the last part of a path; empty where the catalogue has none.
[[nodiscard]] std::string catalogue_name_of(const std::string& printed);

}  // namespace cli
