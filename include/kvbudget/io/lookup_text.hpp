#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kvbudget/io/input_error.hpp"
#include "kvbudget/lookup/gpu_lookup.hpp"

namespace kvbudget::inline v0 {

/// One line that says why `find_gpu(asked)` has no single answer, with the candidates; the id where it has.
[[nodiscard]] inline std::string explain(const gpu_lookup& result, std::string_view asked) {
  if (result.gpu != nullptr) return result.gpu->id;
  const std::string name = "\"" + detail::printable(asked, 60) + "\"";
  std::string list;
  for (std::uint32_t i = 0; i < result.candidate_count; ++i) {
    if (i != 0) list += ", ";
    list += result.candidates[i]->id;
  }
  if (result.status == lookup_status::ambiguous) {
    std::string line = "GPU " + name + " is ambiguous: " + list;
    if (result.matches > result.candidate_count) {
      line += " and " + std::to_string(result.matches - result.candidate_count) + " more";
    }
    return line;
  }
  if (list.empty()) return "GPU " + name + " is unknown";
  return "GPU " + name + " is unknown, did you mean " + list + "?";
}

/// The GPU that the name means; otherwise throws `input_error` with that line.
[[nodiscard]] inline const gpu_profile& gpu_named_or_explain(const std::string& name) {
  const gpu_lookup result = find_gpu(name.c_str());
  if (result.gpu == nullptr) detail::refuse_input(explain(result, name));
  return *result.gpu;
}

}  // namespace kvbudget::inline v0
