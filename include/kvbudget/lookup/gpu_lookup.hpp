#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/detail/raise.hpp"
#include "kvbudget/hardware/gpu_profile.hpp"
#include "kvbudget/lookup/gpu_aliases.hpp"
#include "kvbudget/lookup/nearest.hpp"

namespace kvbudget::inline v0 {

namespace detail {
[[noreturn]] inline void no_gpu_has_this_name() { raise("no GPU has this name"); }
[[noreturn]] inline void the_gpu_name_is_ambiguous(std::uint64_t matches) {
  raise("the GPU name is ambiguous: it means any of # GPUs", matches);
}

[[nodiscard]] constexpr const char* vendor_word(gpu_vendor vendor) {
  switch (vendor) {
    case gpu_vendor::nvidia: return "nvidia";
    case gpu_vendor::amd: return "amd";
    case gpu_vendor::intel: return "intel";
    case gpu_vendor::apple: return "apple";
  }
  return "";
}
}  // namespace detail

enum class lookup_status : std::uint8_t {
  found,      ///< `gpu` is the answer
  ambiguous,  ///< `candidates` are (the first of) the `matches` GPUs that the name may mean
  unknown     ///< `candidates` are the GPUs whose names are nearest, if any is near
};

/// What `find_gpu` found.
struct gpu_lookup {
  static constexpr std::size_t max_candidates = 8;
  static constexpr std::size_t max_suggestions = 4;

  lookup_status status = lookup_status::unknown;
  const gpu_profile* gpu = nullptr;
  const gpu_profile* candidates[max_candidates] = {};
  std::uint32_t candidate_count = 0;
  std::uint32_t matches = 0;

  [[nodiscard]] explicit constexpr operator bool() const { return gpu != nullptr; }
};

/// The GPU of the catalogue that a name means. Letter case and separators (`-`, `_`, blank) do not matter,
/// nor does the vendor's name in front.
///
/// 1. A name that is an id, a vendor's name or an alias means that GPU.
/// 2. Else a name whose words all occur among the words of exactly one GPU's id and name means that one
///    ("h100 sxm"); if they occur in several it is ambiguous ("h100").
/// 3. Else it is unknown, and names that start so, or are nearest by edit distance, are suggested.
///
/// Never throws and never allocates; usable in constant expressions.
[[nodiscard]] constexpr gpu_lookup find_gpu(const char* name) {
  constexpr std::size_t count = sizeof(gpus::all) / sizeof(gpus::all[0]);
  gpu_lookup result;

  detail::name_key asked[4] = {};  // without its vendor, by gpu_vendor
  for (std::size_t v = 0; v < 4; ++v) {
    const char* word = detail::vendor_word(static_cast<gpu_vendor>(v));
    asked[v] = detail::key_of(detail::without_leading_word(name, word));
  }
  const auto asked_of = [&](const gpu_profile& gpu) -> const detail::name_key& {
    return asked[static_cast<std::size_t>(gpu.vendor)];
  };
  const auto bare = [](const gpu_profile& gpu, const char* text) {
    return detail::without_leading_word(text, detail::vendor_word(gpu.vendor));
  };

  const auto found = [&](const gpu_profile& gpu) {
    result.status = lookup_status::found;
    result.gpu = &gpu;
    result.matches = 1;
    return result;
  };
  for (const gpu_profile* gpu : gpus::all) {
    const detail::name_key& key = asked_of(*gpu);
    if (key.length == 0) return result;
    if (detail::matches(key, bare(*gpu, gpu->id)) || detail::matches(key, bare(*gpu, gpu->name))) {
      return found(*gpu);
    }
  }
  for (const gpus::alias_entry& entry : gpus::aliases) {
    if (detail::matches(asked_of(*entry.gpu), entry.alias)) return found(*entry.gpu);
  }

  for (const gpu_profile* gpu : gpus::all) {
    if (!detail::every_word_is_in(name, gpu->id, gpu->name)) continue;
    ++result.matches;
    if (result.candidate_count < gpu_lookup::max_candidates) {
      result.candidates[result.candidate_count++] = gpu;
    }
  }
  if (result.matches == 1) {
    result.status = lookup_status::found;
    result.gpu = result.candidates[0];
    return result;
  }
  if (result.matches > 1) {
    result.status = lookup_status::ambiguous;
    return result;
  }

  detail::nearest_entries<gpu_lookup::max_suggestions> near;
  const auto offer = [&](std::size_t index, const gpu_profile& gpu, const char* text) {
    const detail::name_key& key = asked_of(gpu);
    const detail::name_key other = detail::key_of(bare(gpu, text));
    const std::size_t limit = near.limit(detail::spelling_limit(key));
    const std::size_t distance =
        detail::starts_with(other, key) ? 0 : detail::edit_distance(key, other, limit);
    if (distance <= limit) near.offer(index, distance);
  };
  for (std::size_t i = 0; i < count; ++i) offer(i, *gpus::all[i], gpus::all[i]->id);
  for (const gpus::alias_entry& entry : gpus::aliases) {
    std::size_t i = 0;
    while (gpus::all[i] != entry.gpu) ++i;
    offer(i, *entry.gpu, entry.alias);
  }
  for (std::size_t i = 0; i < near.count; ++i) result.candidates[i] = gpus::all[near.index[i]];
  result.candidate_count = static_cast<std::uint32_t>(near.count);
  return result;
}

/// The GPU that the name means; an unknown or ambiguous name stops (`find_gpu` tells more).
[[nodiscard]] constexpr const gpu_profile& gpu_named(const char* name) {
  const gpu_lookup result = find_gpu(name);
  if (result.status == lookup_status::ambiguous) detail::the_gpu_name_is_ambiguous(result.matches);
  if (result.gpu == nullptr) detail::no_gpu_has_this_name();
  return *result.gpu;
}

}  // namespace kvbudget::inline v0
