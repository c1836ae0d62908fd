#pragma once

#include <cstddef>

#include "kvbudget/model/layer_parts.hpp"
#include "kvbudget/model/model_architecture.hpp"

namespace kvbudget::inline v0::detail {

/// A layer under construction: its kind, and for each weight group the modules of the checkpoint that it
/// comes from. Names are relative to the layer; `a|b` = as many matrices of each; null = never quantized.
struct layer_draft : layer_kind {
  const char* modules[max_weight_groups_per_layer] = {};
};

constexpr void put(layer_draft& layer, const weight_group& group, const char* modules) {
  layer.add(group);
  layer.modules[layer.weight_count - 1] = modules;
}

}  // namespace kvbudget::inline v0::detail
