#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kvbudget/io/huggingface/config_view.hpp"
#include "kvbudget/io/huggingface/decoder.hpp"
#include "kvbudget/io/huggingface/family.hpp"
#include "kvbudget/io/huggingface/layer_lists.hpp"

/// Recurrent mixers as configs describe them.
namespace kvbudget::inline v0::detail {

/// Stops where a mixer's channels cannot be counted in 32 bits.
inline void check_channels(const config_view& config, std::uint64_t channels) {
  if (channels > UINT32_MAX) {
    config.refuse("a recurrent mixer of " + std::to_string(channels) + " channels must be below 2^32");
  }
}

/// A kernel of a causal convolution.
[[nodiscard]] inline std::uint32_t kernel_in(const config_view& config, const key_names& key,
                                             std::uint32_t class_default) {
  const std::uint32_t kernel = config.size_or(key, class_default);
  if (kernel > 65535) config.find(key)->refuse("must be below 65536");
  return kernel;
}

/// Engines follow the config's wish for the format of recurrent states; geometry counts them in the dtype.
inline void note_state_dtype(const config_view& config) {
  const auto given = config.find(state_dtype_keys);
  if (!given) return;
  config.doubt(given->path() + ": the recurrent state is meant to be kept in " +
               printable(given->text(), 20) + ", whatever the model's dtype");
}

/// ⌊factor × hidden⌋ of a factor that may be fractional.
[[nodiscard]] inline std::uint32_t expanded_in(const config_view& config, const key_names& key,
                                               std::uint32_t class_default, std::uint32_t hidden) {
  const std::optional<json_field> given = config.find(key);
  if (!given || given->value().is_number_integer()) {
    return size_product(config, key.usual(), config.size_or(key, class_default), hidden);
  }
  const double inner = given->number() * hidden;
  if (!(inner >= 1 && inner <= UINT32_MAX)) given->refuse("must give 1 to 2^32 - 1 channels");
  return static_cast<std::uint32_t>(inner);
}

/// The keys of a Mamba mixer and the class defaults behind them. Of Mamba-1 there are no heads.
struct mamba_keys {
  key_names state_size{{"mamba_d_state"}};
  key_names conv_kernel{{"mamba_d_conv"}};
  key_names expand{{"mamba_expand"}};
  key_names time_step_rank{{"mamba_dt_rank"}};
  key_names heads{{"mamba_n_heads"}};
  key_names head_dim{{"mamba_d_head"}};
  key_names groups{{"mamba_n_groups"}};
  key_names inner_size{};  ///< all heads together, where it has a key of its own
  toggle conv_bias{"mamba_conv_bias", true};
  toggle input_bias{"mamba_proj_bias", false};
  toggle output_bias{"mamba_proj_bias", false};
  toggle gated_norm{nullptr, true};
  std::uint32_t state_size_default = 16;
  std::uint32_t heads_default = 128;
  std::uint32_t head_dim_default = 0;  ///< 0 = the expanded size over all heads
  std::uint32_t groups_default = 1;
};

[[nodiscard]] inline mixer_shape mixer_with_biases(const config_view& config, const mamba_keys& keys) {
  mixer_shape mixer;
  mixer.options.convolution_bias = config.flag(keys.conv_bias);
  mixer.options.gated_norm = config.flag(keys.gated_norm);
  mixer.input_bias = config.flag(keys.input_bias);
  mixer.output_bias = config.flag(keys.output_bias);
  note_state_dtype(config);
  return mixer;
}

/// Mamba-1: expand × hidden channels, unless they have a key of their own; a time step rank of "auto" is
/// ⌈hidden / 16⌉.
[[nodiscard]] inline mixer_shape mamba1_in(const config_view& config, std::uint32_t hidden,
                                           const mamba_keys& keys) {
  mixer_shape mixer = mixer_with_biases(config, keys);
  const std::uint32_t inner = config.find(keys.inner_size) ? config.size(keys.inner_size)
                                                           : expanded_in(config, keys.expand, 2, hidden);
  const std::uint32_t states = config.size_or(keys.state_size, keys.state_size_default);
  mixer.kept = stores::mamba1(inner, states, kernel_in(config, keys.conv_kernel, 4));
  const std::optional<json_field> rank = config.find(keys.time_step_rank);
  const bool automatic = !rank || (rank->value().is_string() && rank->text() == "auto");
  if (!rank) config.note_default(keys.time_step_rank.usual(), "\"auto\" (hidden / 16, rounded up)");
  mixer.options.time_step_rank = automatic ? (hidden - 1) / 16 + 1 : config_view::size_in(*rank);
  return mixer;
}

/// Mamba-2: heads × head dim channels; a head dim of "auto" shares expand × hidden among the heads.
[[nodiscard]] inline mixer_shape mamba2_in(const config_view& config, std::uint32_t hidden,
                                           const mamba_keys& keys) {
  mixer_shape mixer = mixer_with_biases(config, keys);
  const std::uint32_t heads = config.size_or(keys.heads, keys.heads_default);
  std::optional<std::uint32_t> inner;
  if (const auto given = config.find(keys.inner_size)) inner = config_view::size_in(*given);
  const std::optional<json_field> given = config.find(keys.head_dim);
  const bool automatic = given && given->value().is_string() && given->text() == "auto";
  std::uint32_t head_dim = keys.head_dim_default;
  if (given && !automatic) {
    head_dim = config_view::size_in(*given);
    if (inner && *inner != std::uint64_t{heads} * head_dim) {
      config.refuse(std::string(keys.inner_size.usual()) + " " + std::to_string(*inner) + " is not " +
                    keys.heads.usual() + " " + std::to_string(heads) + " x " + keys.head_dim.usual() + " " +
                    std::to_string(head_dim));
    }
  } else if (automatic || head_dim == 0) {
    if (!inner) inner = expanded_in(config, keys.expand, 2, hidden);
    if (*inner % heads != 0) {
      config.refuse(std::to_string(*inner) + " channels cannot be shared evenly by " + keys.heads.usual() +
                    " " + std::to_string(heads));
    }
    head_dim = *inner / heads;
  } else {
    config.note_default(keys.head_dim.usual(), std::to_string(head_dim));
  }
  const std::uint32_t states = config.size_or(keys.state_size, keys.state_size_default);
  const std::uint32_t groups = config.size_or(keys.groups, keys.groups_default);
  if (heads % groups != 0) {
    config.refuse(std::string(keys.heads.usual()) + " " + std::to_string(heads) + " is not a multiple of " +
                  keys.groups.usual() + " " + std::to_string(groups));
  }
  const std::uint64_t width = size_product(config, "a Mamba mixer's channels", heads, head_dim);
  check_channels(config, width + 2 * std::uint64_t{size_product(config, "groups", groups, states)});
  mixer.kept = stores::mamba2(heads, head_dim, states, groups, kernel_in(config, keys.conv_kernel, 4));
  return mixer;
}

/// Gives each layer the mixers that it has: the usual layer's attention, the recurrent one, or both.
inline void place_mixers(const mixer_shape& recurrent, const std::vector<layer_part>& parts,
                         std::vector<layer_plan>& layers) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (parts[i] == layer_part::attention) continue;
    layers[i].recurrent = recurrent;
    if (parts[i] == layer_part::attention_and_recurrent) continue;
    layers[i].attention = attention_shape{};
    layers[i].latent = latent_shape{};
  }
}

}  // namespace kvbudget::inline v0::detail
