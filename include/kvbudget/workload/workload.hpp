#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/units/quantity.hpp"

namespace kvbudget::inline v0 {

/// `count` live requests that look alike: each holds `prompt` + `output` tokens, the first `shared_prefix` of
/// which are the same for all of them and cached once.
struct request_group {
  std::uint64_t count = 0;
  tokens prompt{};
  tokens output{};
  tokens shared_prefix{};

  /// Tokens that each request holds in the end.
  [[nodiscard]] constexpr tokens context() const { return prompt + output; }
  friend constexpr bool operator==(const request_group&, const request_group&) = default;
};

/// Further groups that a workload has room for, beside its short form.
inline constexpr std::size_t max_request_groups = 8;

namespace detail {
[[noreturn]] inline void a_shared_prefix_is_longer_than_its_prompt(std::uint64_t prefix,
                                                                   std::uint64_t prompt) {
  raise("a shared prefix of # tokens is longer than the prompt of # tokens", prefix, prompt);
}
[[noreturn]] inline void too_many_request_groups() {
  raise("a workload has at most # request groups", max_request_groups);
}
[[noreturn]] inline void active_tokens_need_a_number_of_sequences() {
  raise("active tokens need a number of sequences: windows, states and blocks are counted per sequence");
}
}  // namespace detail

/// What is live on the cluster at the same time.
///
/// The short form `{.sequences = 8, .context = 32768_tokens}` is the first group: so many requests of so many
/// tokens each, which may share their first `shared_prefix` tokens. Further `groups` come on top; a group
/// with count 0 ends them. `batched_tokens` is what one step computes (prefill chunks included); without it
/// activations are unknown and stay out of the ledger.
struct workload {
  std::uint64_t sequences = 0;
  tokens context{};
  tokens shared_prefix{};
  tokens batched_tokens{};
  request_group groups[max_request_groups] = {};

  constexpr workload& add(const request_group& group) {
    for (request_group& slot : groups) {
      if (slot.count != 0) continue;
      slot = group;
      return *this;
    }
    detail::too_many_request_groups();
  }
  /// Groups with live requests: the short form (number 0, which may be empty), then the further ones.
  [[nodiscard]] constexpr std::uint32_t group_count() const {
    std::uint32_t count = 0;
    while (count < max_request_groups && groups[count].count != 0) ++count;
    return count + 1;
  }
  [[nodiscard]] constexpr request_group group(std::uint32_t number) const {
    return number == 0 ? request_group{sequences, context, tokens{}, shared_prefix} : groups[number - 1];
  }
  /// Live requests.
  [[nodiscard]] constexpr std::uint64_t total_sequences() const {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < group_count(); ++i) sum = detail::checked_add(sum, group(i).count);
    return sum;
  }
  /// Tokens over all live requests, shared prefixes counted for each: Σ count × context.
  [[nodiscard]] constexpr tokens active_tokens() const {
    tokens sum{};
    for (std::uint32_t i = 0; i < group_count(); ++i) sum += group(i).context() * group(i).count;
    return sum;
  }
  /// The longest context of any live request.
  [[nodiscard]] constexpr tokens longest_context() const {
    tokens longest{};
    for (std::uint32_t i = 0; i < group_count(); ++i) {
      if (group(i).count != 0) longest = detail::larger(longest, group(i).context());
    }
    return longest;
  }
  friend constexpr bool operator==(const workload&, const workload&) = default;
};

/// `total` tokens spread as evenly as possible over `sequences` requests: total mod sequences of them hold
/// one token more. A bare total without sequences stops: windows, states and blocks would be undefined.
[[nodiscard]] constexpr workload active_tokens(tokens total, std::uint64_t sequences) {
  if (sequences == 0) detail::active_tokens_need_a_number_of_sequences();
  workload result;
  const std::uint64_t longer = total.value % sequences;
  result.sequences = sequences - longer;
  result.context = tokens{total.value / sequences};
  if (longer != 0) result.add({longer, tokens{total.value / sequences + 1}, tokens{}, tokens{}});
  return result;
}

/// Stops if a group cannot exist.
constexpr void validate(const workload& work) {
  if (work.sequences != 0 && work.shared_prefix > work.context) {
    detail::a_shared_prefix_is_longer_than_its_prompt(work.shared_prefix.value, work.context.value);
  }
  for (std::uint32_t i = 1; i < work.group_count(); ++i) {
    const request_group& group = work.groups[i - 1];
    if (group.shared_prefix > group.prompt) {
      detail::a_shared_prefix_is_longer_than_its_prompt(group.shared_prefix.value, group.prompt.value);
    }
  }
}

/// The two phases of a step, with activation needs of their own.
enum class phase : std::uint8_t {
  prefill,  ///< `batched_tokens` prompt tokens; one row of logits per request that finishes its prompt
  decode    ///< one token and one row of logits per live request
};

}  // namespace kvbudget::inline v0
