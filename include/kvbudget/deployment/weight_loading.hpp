#pragma once

#include <cstdint>

#include "kvbudget/format/formats.hpp"
#include "kvbudget/format/weight_scheme.hpp"

namespace kvbudget::inline v0 {

/// Which weights of latent attention (MLA) are kept a second time, expanded into one matrix per head.
enum class latent_copies : std::uint8_t {
  none,
  of_quantized,  ///< the keys' and values' up-projection where it is quantized: the copy is in the dtype
  always         ///< that projection in any format
};

/// What becomes of a checkpoint's weights when they are loaded. The default keeps them as they are stored;
/// `engine/loaded_weights.hpp` has what engines do.
struct weight_loading {
  bool gptq_repacked = false;          ///< no zero points, and of g_idx only what `act_order` needs
  bool act_order = false;              ///< GPTQ with desc_act: order and its inverse, 4 bytes each per column
  bool fp8_in_marlin = false;          ///< FP8 without FP8 hardware: scales per output row in 16 bits
  bool expert_scales_kept = false;     ///< the stored scales of experts stay beside the repacked ones
  bool expert_biases_in_fp32 = false;  ///< biases of experts are widened
  std::uint32_t expert_hidden_multiple = 1;     ///< experts' inputs and outputs are padded to this
  std::uint32_t expert_inner_multiple = 1;      ///< so is what a rank holds of their intermediate size
  std::uint32_t fp4_scale_rows_multiple = 1;    ///< scales of FP4 matrices: rows are padded to this
  std::uint32_t fp4_scale_groups_multiple = 1;  ///< and groups per row to this
  latent_copies latent = latent_copies::none;
  bool draft_tables_shared = false;  ///< draft layers read the model's embedding and head, not their copies
  bool towers = true;                ///< vision and audio towers are loaded

  /// Whether anything is not as stored.
  [[nodiscard]] constexpr bool changes() const { return !(*this == weight_loading{}); }
  friend constexpr bool operator==(const weight_loading&, const weight_loading&) = default;
};

/// What a scheme has become once loaded. GPTQ (a scheme with bytes per column): source
/// vllm-project/vllm model_executor/layers/quantization/gptq_marlin.py and kernels/linear/mixed_precision/
/// marlin.py. FP8 in Marlin: model_executor/layers/quantization/utils/marlin_utils_fp8.py.
[[nodiscard]] constexpr weight_scheme loaded_scheme(weight_scheme scheme, const weight_loading& loading) {
  weight_sidecar& beside = scheme.sidecar;
  if (loading.gptq_repacked && beside.column_bytes != 0) {
    beside.column_bytes = loading.act_order ? 8 : 0;
    beside.zero_bits = 0;
  }
  const bool plain_scales = beside.scales == weight_scales::tensor ||
                            beside.scales == weight_scales::channel || beside.scales == weight_scales::block;
  if (loading.fp8_in_marlin && scheme.payload == formats::fp8_e4m3 && plain_scales) {
    beside.scales = beside.scales == weight_scales::block ? weight_scales::group : weight_scales::channel;
    beside.scale_bytes = 2;
    beside.scale_bytes_high = 0;
  }
  return scheme;
}

}  // namespace kvbudget::inline v0
