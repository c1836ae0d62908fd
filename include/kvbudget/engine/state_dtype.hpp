#pragma once

#include <cstdint>

#include "kvbudget/format/formats.hpp"

namespace kvbudget::inline v0::engines {

/// In what an engine keeps recurrent states; automatic = as it decides itself.
enum class state_dtype : std::uint8_t { automatic, float32, float16, bfloat16 };

/// The format of a choice, and of the automatic one `otherwise`.
[[nodiscard]] constexpr const number_format& format_of(state_dtype chosen, const number_format& otherwise) {
  switch (chosen) {
    case state_dtype::automatic: return otherwise;
    case state_dtype::float32: return formats::fp32;
    case state_dtype::float16: return formats::fp16;
    case state_dtype::bfloat16: return formats::bf16;
  }
  return otherwise;
}

}  // namespace kvbudget::inline v0::engines
