#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kvbudget/lookup/layer_runs.hpp"
#include "kvbudget/model/model_architecture.hpp"
#include "kvbudget/report/text.hpp"

/// A model in words: what its layers keep, and in which order they stand.
namespace kvbudget::inline v0::report {

/// What a recurrent mixer is called.
[[nodiscard]] constexpr const char* name_of(state_kind state) {
  switch (state) {
    case state_kind::none: return "no state";
    case state_kind::mamba1: return "mamba";
    case state_kind::mamba2: return "mamba2";
    case state_kind::gated_delta_net: return "gated delta net";
    case state_kind::kimi_delta: return "kimi delta attention";
    case state_kind::linear_attention: return "linear attention";
    case state_kind::short_convolution: return "short convolution";
    case state_kind::rwkv: return "rwkv";
  }
  return "?";
}

/// A store in one or two words: `full`, `sliding 1024`, `latent 512+64`, `mamba2`.
[[nodiscard]] inline std::string label_of(const store& s) {
  const auto number = [](std::uint64_t n) { return std::to_string(n); };
  switch (s.kind) {
    case store_kind::none: return "nothing";
    case store_kind::full: return s.indexer_dim == 0 ? "full" : "full indexed";
    case store_kind::sliding_window: return "sliding " + number(s.window);
    case store_kind::chunked: return "chunked " + number(s.window);
    case store_kind::latent:
      return "latent " + number(s.latent_rank) + "+" + number(s.rope_dim) +
             (s.indexer_dim == 0 ? "" : " indexed");
    case store_kind::compressed:
      return "sliding " + number(s.window) +
             (s.compress_ratio == 0 ? "" : " compressed " + number(s.compress_ratio));
    case store_kind::recurrent: return name_of(s.state);
    case store_kind::cross_attention: return "cross";
    case store_kind::shared: return "shared";
  }
  return "?";
}

/// A store in full: "8 KV heads of 128, window 4,096".
[[nodiscard]] inline std::string store_text(const store& s) {
  using detail::grouped;
  std::string heads =
      grouped(s.kv_heads) + (s.kv_heads == 1 ? " KV head of " : " KV heads of ") + grouped(s.key_dim);
  if (s.key_dim != s.value_dim) heads += " and " + grouped(s.value_dim);
  const std::string index = s.indexer_dim == 0 ? "" : ", an index key of " + grouped(s.indexer_dim);
  switch (s.kind) {
    case store_kind::none: return "nothing";
    case store_kind::full: return heads + index;
    case store_kind::sliding_window: return heads + ", window " + grouped(s.window) + index;
    case store_kind::chunked: return heads + ", chunks of " + grouped(s.window) + index;
    case store_kind::latent:
      return "a latent of " + grouped(s.latent_rank) + " and a rotary key of " + grouped(s.rope_dim) + index;
    case store_kind::compressed:
      if (s.compress_ratio == 0) return "entries of " + grouped(s.key_dim) + ", window " + grouped(s.window);
      return "entries of " + grouped(s.key_dim) + ", window " + grouped(s.window) + ", one more per " +
             grouped(s.compress_ratio) + " tokens" + index;
    case store_kind::recurrent: {
      const state_elements state = state_of(s);
      std::string text = std::string(name_of(s.state)) + ", per sequence: ";
      if (state.recurrent == 0) return text + grouped(state.convolution) + " elements of last inputs";
      text += grouped(state.recurrent) + " elements of state";
      if (state.convolution != 0) text += ", " + grouped(state.convolution) + " of convolution";
      return text;
    }
    case store_kind::cross_attention:
      if (s.encoder_tokens == 0) return heads + " for each token of an image, none counted";
      return heads + " over " + grouped(s.encoder_tokens) + " encoder tokens";
    case store_kind::shared: return "nothing: an earlier layer's cache is read";
  }
  return "?";
}

/// What a layer keeps, its stores in full.
[[nodiscard]] inline std::string stores_text(const layer_kind& layer) {
  std::string text;
  for (std::size_t i = 0; i < layer.store_count; ++i) {
    text += (i == 0 ? "" : " + ") + store_text(layer.stores[i]);
  }
  return text.empty() ? "nothing" : text;
}

/// The feed-forward part of a layer in a few words: `mlp 14336`, `8 of 128 experts`, `no mlp`.
[[nodiscard]] inline std::string feed_forward_label(const layer_kind& layer) {
  if (layer.num_experts != 0) {
    return std::to_string(layer.num_experts_per_tok) + " of " + std::to_string(layer.num_experts) +
           " experts";
  }
  if (layer.intermediate_size != 0) return "mlp " + std::to_string(layer.intermediate_size);
  return "no mlp";
}

/// Whether only some of the experts work on a token.
[[nodiscard]] inline bool is_mixture_of_experts(const model_architecture& model) {
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    if (model.kinds[kind].num_experts_per_tok < model.kinds[kind].num_experts) return true;
  }
  return false;
}

/// A short label for each kind of layer, different for different kinds: what it keeps, and only where that
/// does not tell kinds apart the feed-forward part, the heads, their width, the parameters, and a number.
[[nodiscard]] inline std::vector<std::string> kind_labels(const model_architecture& model) {
  std::vector<std::string> labels(model.kind_count);
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    const layer_kind& layer = model.kinds[kind];
    for (std::size_t i = 0; i < layer.store_count; ++i) {
      labels[kind] += (i == 0 ? "" : " & ") + label_of(layer.stores[i]);
    }
    if (layer.store_count != 0) continue;
    labels[kind] = layer.num_attention_heads != 0 ? "encoder" : feed_forward_label(layer);
  }
  const auto tell_apart = [&](const auto& further) {
    const std::vector<std::string> before = labels;
    for (std::size_t kind = 0; kind < labels.size(); ++kind) {
      bool shared = false;
      bool differs = false;
      for (std::size_t other = 0; other < labels.size(); ++other) {
        if (other == kind || before[other] != before[kind]) continue;
        shared = true;
        differs = differs || further(other) != further(kind);
      }
      if (shared && differs) labels[kind] += ", " + further(kind);
    }
  };
  tell_apart([&](std::size_t kind) { return feed_forward_label(model.kinds[kind]); });
  tell_apart([&](std::size_t kind) {
    const layer_kind& layer = model.kinds[kind];
    return std::to_string(layer.num_attention_heads) + "/" + std::to_string(layer.key_value_heads) + " heads";
  });
  tell_apart([&](std::size_t kind) { return "heads of " + std::to_string(model.kinds[kind].query_dim); });
  tell_apart([&](std::size_t kind) {
    return detail::grouped(std::uint64_t{model.kinds[kind].parameters()}) + " parameters";
  });
  tell_apart([](std::size_t kind) { return "kind " + std::to_string(kind); });
  return labels;
}

/// The order of the layers, as short as it can be said: `5×(sliding 1024) + 1×full, repeated 10 times; then
/// 2×(sliding 1024)`.
[[nodiscard]] inline std::string layer_order(const model_architecture& model) {
  const std::vector<std::string> labels = kind_labels(model);
  const auto times = [&](std::size_t count, std::uint8_t kind) {
    const std::string& label = labels[kind];
    const bool one_word = label.find(' ') == std::string::npos;
    return std::to_string(count) + "×" + (one_word ? label : "(" + label + ")");
  };
  std::string text;
  std::string sum;  // runs of single layers since the last repetition
  const auto flush = [&] {
    if (!sum.empty()) text += (text.empty() ? "" : "; then ") + sum;
    sum.clear();
  };
  const std::size_t layers = model.num_hidden_layers;
  for (std::size_t at = 0; at < layers;) {
    const kvbudget::detail::layer_run run = kvbudget::detail::run_at(model.order, layers, at);
    at = run.end();
    const std::vector<std::uint8_t> inside(model.order + run.first, model.order + run.first + run.period);
    if (run.period == 1) {
      sum += (sum.empty() ? "" : " + ") + times(run.count, inside.front());
      continue;
    }
    flush();
    text += text.empty() ? "" : "; then ";
    for (std::size_t i = 0; i < inside.size();) {
      std::size_t end = i;
      while (end < inside.size() && inside[end] == inside[i]) ++end;
      text += (i == 0 ? "" : " + ") + times(end - i, inside[i]);
      i = end;
    }
    text += ", repeated " + std::to_string(run.count) + " times";
  }
  flush();
  return text;
}

}  // namespace kvbudget::inline v0::report
