#pragma once

#include <string>
#include <string_view>

#include "kvbudget/io/input_error.hpp"
#include "kvbudget/models.hpp"

namespace kvbudget::inline v0 {

/// One line that says that no bundled model has this name, with those that may have been meant.
[[nodiscard]] inline std::string explain(const model_suggestions& near, std::string_view asked) {
  std::string line = "model \"" + detail::printable(asked, 80) + "\" is unknown";
  for (std::size_t i = 0; i < near.count; ++i) {
    line += i == 0 ? ", did you mean " : (i + 1 == near.count ? " or " : ", ");
    line += near.models[i]->name;
  }
  return near.count == 0 ? line : line + "?";
}

/// Where the config of a Hugging Face repository is downloaded from; empty where the name is not
/// `organisation/name`.
[[nodiscard]] inline std::string config_address(std::string_view name) {
  constexpr std::string_view allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./";
  const std::size_t slash = name.find('/');
  if (slash == 0 || slash >= name.size() - 1 || name.find('/', slash + 1) != name.npos) return {};
  if (name.size() > detail::name_key::capacity || name.find_first_not_of(allowed) != name.npos) return {};
  return "https://huggingface.co/" + std::string(name) + "/resolve/main/config.json";
}

/// The bundled model that the name means; otherwise throws `input_error` with that line.
[[nodiscard]] inline const model_architecture& model_named_or_explain(const std::string& name) {
  const model_architecture* model = models::find(name.c_str());
  if (model == nullptr) detail::refuse_input(explain(models::nearest(name.c_str()), name));
  return *model;
}

}  // namespace kvbudget::inline v0
