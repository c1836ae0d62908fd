#pragma once

#include <cstdint>

#include "kvbudget/format/weight_scheme.hpp"
#include "kvbudget/model/model_architecture.hpp"

namespace kvbudget::inline v0 {

/// What drafts the tokens that the model then checks.
enum class speculation_kind : std::uint8_t {
  none,
  mtp,          ///< the model's own draft layers (multi-token prediction)
  eagle,        ///< a small model that reads the model's hidden states (EAGLE, EAGLE-3)
  draft_model,  ///< a model of its own
  ngram         ///< the tokens seen so far: no weights, no cache
};

/// Speculative decoding: tokens drafted per step, and by what.
struct speculation {
  speculation_kind kind = speculation_kind::none;
  std::uint32_t num_speculative_tokens = 0;   ///< drafted per step
  const model_architecture* draft = nullptr;  ///< eagle, draft_model; must outlive the deployment
  weight_scheme draft_weights{};              ///< default: as the draft's checkpoint stores them
  std::uint32_t draft_tensor = 0;             ///< tensor ranks that split the draft; 0 = as many as the model
  std::uint32_t draft_layers = 0;  ///< mtp: how many of the model's own draft layers are loaded; 0 = all

  /// Whether a second model is loaded beside the model.
  [[nodiscard]] constexpr bool has_draft_model() const {
    return kind == speculation_kind::eagle || kind == speculation_kind::draft_model;
  }
};

/// Room that an engine keeps for LoRA adapters: `max_loras` slots of rank `max_lora_rank` for every targeted
/// matrix.
struct lora_adapters {
  std::uint32_t max_loras = 0;      ///< 0 = none
  std::uint32_t max_lora_rank = 0;  ///< rank that every slot has room for
  module_set targets{};             ///< default: attention, mixers, MLPs, experts and shared experts
  number_format dtype{};            ///< default: the deployment's dtype
  bool fully_sharded = false;       ///< the factor that ranks would repeat is split as well

  [[nodiscard]] constexpr bool any() const { return max_loras != 0; }
  /// Whether matrices of a module get adapters.
  [[nodiscard]] constexpr bool covers(module_role role) const {
    if (targets.bits != 0) return targets.has(role);
    return role == module_role::attention || role == module_role::mixer || role == module_role::mlp ||
           role == module_role::expert || role == module_role::shared_expert;
  }
};

namespace detail {
[[noreturn]] inline void this_speculation_needs_a_draft_model() {
  raise("speculation: eagle and draft_model need a draft model");
}
[[noreturn]] inline void this_speculation_takes_no_draft_model() {
  raise("speculation: only eagle and draft_model take a draft model");
}
[[noreturn]] inline void the_model_has_no_draft_layers() {
  raise("speculation: the model has no draft layers (MTP)");
}
[[noreturn]] inline void more_draft_layers_than_the_model_has(std::uint64_t asked, std::uint64_t layers) {
  raise("speculation: # draft layers are asked for, the model has #", asked, layers);
}
[[noreturn]] inline void what_a_draft_layer_keeps_is_not_known() {
  raise("speculation: what a draft layer of this model keeps in the cache is not known");
}
[[noreturn]] inline void lora_adapters_need_a_rank() {
  raise("LoRA: max_loras without max_lora_rank, or the other way round");
}
}  // namespace detail

/// Stops, with the reason, if the adapters cannot exist.
constexpr void validate(const lora_adapters& lora) {
  if ((lora.max_loras == 0) != (lora.max_lora_rank == 0)) detail::lora_adapters_need_a_rank();
}

}  // namespace kvbudget::inline v0
