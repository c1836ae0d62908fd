#pragma once

#include <string>

#include "kvbudget/plan/capacity.hpp"
#include "kvbudget/report/format.hpp"

namespace kvbudget::inline v0::report {

/// Why an engine would not start, its numbers filled in; empty where nothing is refused.
[[nodiscard]] inline std::string refusal_text(const refusal& why) {
  return why ? std::string(error(why.text, why.first, why.second).what()) : std::string();
}

/// What an engine that reserves pools answers to a workload, in one sentence: refused, not started, too long,
/// too many at once, or how much of the pools it needs.
[[nodiscard]] inline std::string answer_of(const allocation& found, const verdict& answer,
                                           const deployment& d, std::uint64_t longest_start) {
  const auto grouped = [](std::uint64_t n) { return detail::grouped(n); };
  if (found.refused) {
    const std::string why = refusal_text(found.refused);
    return "refused: " + why + (why.ends_with('.') ? "" : ".");
  }
  if (found.available_kv.expected < 0) {
    return fmt::format(
        "does not start: everything but the cache takes {} more than the engine allows itself.",
        bytes{static_cast<std::uint64_t>(-found.available_kv.expected)});
  }
  if (!found.starts()) {
    return fmt::format(
        "does not start: one request of {} tokens needs {} of cache, {} are left; the longest that starts is "
        "{} tokens.",
        grouped(found.longest_request), found.needed_to_start,
        bytes{static_cast<std::uint64_t>(found.available_kv.expected)}, grouped(longest_start));
  }
  const std::uint64_t longest = d.workload.longest_context().value;
  if (longest > found.longest_request) {
    return fmt::format("does not fit: requests of {} tokens, but the engine takes at most {}.",
                       grouped(longest), grouped(found.longest_request));
  }
  const std::uint64_t each = detail::ceil_div(d.workload.total_sequences(), d.parallel.replicas());
  if (found.running_requests != 0 && each > found.running_requests) {
    return fmt::format("does not fit: {} requests at once, but the engine runs at most {}.", grouped(each),
                       grouped(found.running_requests));
  }
  const bytes need = needed_of_pools(found, d);
  const std::string headroom =
      answer.reserved == bytes{} ? "" : fmt::format(" and {} of headroom", answer.reserved);
  if (answer.fits) {
    return fmt::format("fits: the requests need {}{} of the {} reserved{}.", need, headroom,
                       found.pools.size(),
                       answer.surely ? "" : "; not surely: with the highest need it would not");
  }
  return fmt::format("does not fit: the requests need {}{}, {} are reserved{}.", need, headroom,
                     found.pools.size(), answer.never ? "" : "; with the lowest need it would fit");
}

}  // namespace kvbudget::inline v0::report
