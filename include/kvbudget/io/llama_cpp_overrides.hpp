#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kvbudget/engine/llama_cpp.hpp"
#include "kvbudget/io/format_names.hpp"
#include "kvbudget/io/input_error.hpp"
#include "kvbudget/io/name_pattern.hpp"
#include "kvbudget/model/model_architecture.hpp"

/// `--override-tensor PATTERN=BUFFER,…` of llama.cpp: which tensors stay in host memory, by their names.
/// Source: ggml-org/llama.cpp, common/arg.cpp (parse_tensor_buffer_overrides), src/llama-model-loader.cpp,
/// src/llama-arch.cpp (names).
namespace kvbudget::inline v0 {

/// What `--override-tensor` comes to for one model.
struct llama_cpp_overrides {
  llama_cpp_host_tensors tensors{};
  std::vector<std::string> notes;  ///< patterns without effect
};

namespace detail {

/// The tensors that one part of a layer may be, whole: each list is one way in which files store it.
struct llama_cpp_part_names {
  llama_cpp_tensor part;
  std::vector<std::vector<const char*>> ways;
};

/// The names of every part that a layer has; norms are left out.
[[nodiscard]] inline std::vector<llama_cpp_part_names> part_names_of(const layer_kind& layer) {
  using enum llama_cpp_tensor;
  bool has[llama_cpp_tensor_count] = {};
  bool fused = false;
  llama_cpp_weights::layer_parts parts(layer);
  for (std::size_t i = 0; i < layer.weight_count; ++i) {
    const weight_group& group = layer.weights[i];
    const bool experts = group.role == module_role::expert && layer.num_experts != 0;
    const std::uint64_t tensors =
        experts && group.copies % layer.num_experts == 0 ? group.copies / layer.num_experts : group.copies;
    const llama_cpp_weights::group_parts found = parts.of(group, tensors);
    for (std::uint32_t part = 0; part < found.count; ++part) {
      has[static_cast<std::size_t>(found.parts[part])] = true;
    }
    fused = fused || (experts && found.count == 1 && found.parts[0] == expert_up && layer.gated_mlp &&
                      group.rows == std::uint64_t{2} * layer.moe_intermediate_size);
  }
  bool latent = false;
  for (std::size_t i = 0; i < layer.store_count; ++i) {
    latent = latent || layer.stores[i].kind == store_kind::latent;
  }
  std::vector<llama_cpp_part_names> result;
  const auto add = [&](llama_cpp_tensor part, std::vector<std::vector<const char*>> ways) {
    if (has[static_cast<std::size_t>(part)]) result.push_back({part, std::move(ways)});
  };
  if (latent) {
    add(attention, {{"attn_q_a", "attn_q_b", "attn_kv_a_mqa", "attn_k_b", "attn_v_b", "attn_output"},
                    {"attn_q_a", "attn_q_b", "attn_kv_a_mqa", "attn_kv_b", "attn_output"},
                    {"attn_q", "attn_kv_a_mqa", "attn_kv_b", "attn_output"}});
  } else {
    add(attention, {{"attn_q", "attn_k", "attn_v", "attn_output"}, {"attn_qkv", "attn_output"}});
  }
  add(mixer, {{"ssm_in", "ssm_conv1d", "ssm_out"},
              {"time_mix_key", "time_mix_value", "time_mix_receptance", "time_mix_output"},
              {"shortconv.in_proj", "shortconv.conv", "shortconv.out_proj"}});
  add(router, {{"ffn_gate_inp"}});
  add(mlp_gate, {{"ffn_gate"}});
  add(mlp_up, {{"ffn_up"}});
  add(mlp_down, {{"ffn_down"}});
  add(shared_expert, {{"ffn_gate_shexp", "ffn_up_shexp", "ffn_down_shexp"}});
  add(expert_gate, {{"ffn_gate_exps"}});
  if (fused) {
    add(expert_up, {{"ffn_gate_up_exps"}, {"ffn_gate_exps", "ffn_up_exps"}});
  } else {
    add(expert_up, {{"ffn_up_exps"}});
  }
  add(expert_down, {{"ffn_down_exps"}});
  return result;
}

/// Patterns with their targets, in the order in which they are asked.
class tensor_overrides {
 public:
  static constexpr std::size_t most_patterns = 256;
  static constexpr std::size_t longest_pattern = 500;

  explicit tensor_overrides(std::string_view text) {
    for (bool more = true; more;) add(next_in_list(text, more));
  }

  /// Whether some pattern matches a part of the name. llama.cpp takes the first that does; all of them mean
  /// the host here.
  [[nodiscard]] bool match(const std::string& name) {
    for (entry& each : entries_) {
      if (!each.pattern.matches(name)) continue;
      each.used = true;
      return true;
    }
    return false;
  }

  [[nodiscard]] std::vector<std::string> unused() const {
    std::vector<std::string> result;
    for (const entry& each : entries_) {
      if (!each.used) result.push_back(each.typed);
    }
    return result;
  }

 private:
  struct entry {
    std::string typed;
    name_pattern pattern;
    bool used = false;
  };

  void add(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      refuse_input(quoted(text) + " is not PATTERN=CPU");
    }
    const std::string typed(text.substr(0, equals));
    const std::string_view target = text.substr(equals + 1);
    if (target != "CPU" && !(target.size() > 5 && target.ends_with("_Host"))) {
      refuse_input("buffer " + quoted(target) + " is not modelled, expected CPU: PATTERN=CPU");
    }
    if (typed.size() > longest_pattern || entries_.size() == most_patterns) {
      refuse_input("expected at most " + std::to_string(most_patterns) + " patterns of at most " +
                   std::to_string(longest_pattern) + " characters");
    }
    // llama.cpp searches a name for the pattern.
    const std::string source = "pattern " + std::to_string(entries_.size() + 1);
    const nlohmann::json nothing;
    const json_field place(nothing, source);
    (void)name_pattern::regex(typed, place);  // messages show the pattern as it is typed
    entries_.push_back({typed, name_pattern::regex(".*(?:" + typed + ")", place)});
  }

  std::vector<entry> entries_;
};

}  // namespace detail

/// Reads `--override-tensor` for a model: regular expressions that are looked for in the names of its tensors
/// (`blk.7.ffn_up_exps.weight`), each with `=CPU`, or the name of a buffer of pinned host memory; the first
/// that matches counts. Biases stay with their matrices, norms where their layer runs (a few KB). Anything
/// else as a target, and a pattern that takes only some of the tensors that are counted together (the
/// projections of attention, the shared expert), throw `input_error`.
[[nodiscard]] inline llama_cpp_overrides llama_cpp_overrides_of(std::string_view text,
                                                                const model_architecture& model) {
  llama_cpp_overrides result;
  detail::tensor_overrides overrides(text);
  std::vector<std::vector<detail::llama_cpp_part_names>> names;
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    names.push_back(detail::part_names_of(model.kinds[kind]));
  }
  for (std::uint32_t layer = 0; layer < model.num_hidden_layers; ++layer) {
    const std::string start = "blk." + std::to_string(layer) + '.';
    for (const detail::llama_cpp_part_names& part : names[model.order[layer]]) {
      bool whole = false;
      std::string taken;
      std::string left;
      for (const std::vector<const char*>& way : part.ways) {
        bool all = true;
        for (const char* stem : way) {
          const bool matches = overrides.match(start + stem + ".weight");
          if (matches && taken.empty()) taken = start + stem;
          if (!matches && left.empty()) left = start + stem;
          all = all && matches;
        }
        whole = whole || all;
      }
      if (whole) {
        result.tensors.add(part.part, layer);
      } else if (!taken.empty()) {
        detail::refuse_input("the patterns take " + taken + " but not " + left +
                             ": only together are they counted on the host");
      }
    }
    for (const char* norm : {"attn_norm", "ffn_norm"}) (void)overrides.match(start + norm + ".weight");
  }
  // A tied head is the token table, loaded a second time under its own name.
  const bool embedding = overrides.match("token_embd.weight");
  const bool head = model.tie_word_embeddings ? embedding : overrides.match("output.weight");
  result.tensors.head = head;
  (void)overrides.match("output_norm.weight");
  for (const std::string& pattern : overrides.unused()) {
    result.notes.push_back("pattern " + detail::quoted(std::string_view(pattern)) + " matches no tensor of " +
                           std::string(model.name));
  }
  return result;
}

}  // namespace kvbudget::inline v0
