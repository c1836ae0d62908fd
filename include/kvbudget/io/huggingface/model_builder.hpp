#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvbudget/io/huggingface/family.hpp"
#include "kvbudget/io/huggingface/layer_draft.hpp"

namespace kvbudget::inline v0::detail {

/// How a checkpoint stores its modules.
struct stored_modules {
  /// The scheme of the linear layer (or table) of this full name; nothing = in the dtype. Empty = all are.
  std::function<std::optional<weight_scheme>(std::string_view, tensor_kind)> scheme_of;
  /// Layers of the same shape and the same number are stored alike. Empty = each layer on its own.
  std::function<std::uint64_t(std::uint32_t)> signature_of_layer{};
};

/// Fills a model, asking for each linear layer how the checkpoint stores it.
class model_builder {
 public:
  model_builder(model_architecture& model, const model_family& family, stored_modules stored = {})
      : model_(model), family_(family), stored_(std::move(stored)) {}

  [[nodiscard]] model_architecture& model() { return model_; }
  /// Two layers of the same plan are of the same kind where this is the same for both.
  [[nodiscard]] std::uint64_t signature_of_next_layer() const {
    if (!is_quantized()) return 0;
    const std::uint32_t layer = model_.num_hidden_layers;
    return stored_.signature_of_layer ? stored_.signature_of_layer(layer) : layer;
  }
  /// Appends a layer; the number of its kind.
  std::uint8_t add_layer(const layer_draft& draft) {
    if (!is_quantized()) {
      model_.add_layers(draft);
    } else {
      const std::string prefix = family_.layer_prefix + std::to_string(model_.num_hidden_layers) + ".";
      layer_kind layer = draft;
      layer.weight_count = 0;
      for (weight_group& group : layer.weights) group = {};
      for (std::size_t i = 0; i < draft.weight_count; ++i) {
        resolve(draft.weights[i], draft.modules[i], prefix,
                [&](const weight_group& part) { layer.add(part); });
      }
      model_.add_layers(layer);
    }
    return model_.order[model_.num_hidden_layers - 1];
  }
  /// Appends another layer of a kind that is there.
  void repeat_layer(std::uint8_t kind) {
    if (model_.num_hidden_layers == max_layers) a_model_has_too_many_layers(max_layers + 1);
    model_.order[model_.num_hidden_layers++] = kind;
    ++model_.layers_of[kind];
  }
  /// Adds weights outside the layers; `modules` are full names, as in `layer_draft`.
  void add(const weight_group& group, const char* modules = nullptr) {
    resolve(group, modules, "", [&](const weight_group& part) { model_.add(part); });
  }
  /// Adds the weights of a draft layer, which are loaded only where it is used; its names begin with
  /// `prefix`.
  void add_draft_layer(const layer_draft& draft, const std::string& prefix) {
    for (std::size_t i = 0; i < draft.weight_count; ++i) {
      weight_group group = draft.weights[i];
      group.role = module_role::draft;
      resolve(group, draft.modules[i], prefix, [&](const weight_group& part) { add_draft(part); });
    }
  }
  /// Adds to what one draft layer keeps; `layers` of them, all alike. More stores than a layer may have are
  /// not known.
  void keep_in_draft_layers(std::uint64_t layers, const layer_kind& draft) {
    model_.draft_layers = static_cast<std::uint32_t>(layers);
    if (std::size_t{model_.draft_store_count} + draft.store_count > max_stores_per_layer) {
      draft_stores_known_ = false;
      return forget_draft_stores(layers);
    }
    if (!draft_stores_known_) return;
    for (std::size_t i = 0; i < draft.store_count; ++i) model_.add_draft_store(draft.stores[i]);
  }
  /// `layers` draft layers of which it is not known, or not the same for all, what they keep.
  void forget_draft_stores(std::uint64_t layers) {
    model_.draft_layers = static_cast<std::uint32_t>(layers);
    for (std::size_t i = 0; i < model_.draft_store_count; ++i) model_.draft_stores[i] = store{};
    model_.draft_store_count = 0;
  }

 private:
  [[nodiscard]] bool is_quantized() const { return stored_.scheme_of != nullptr; }
  /// Calls `take` with the group, in the precision of its modules; apart where they differ.
  template <class Take>
  void resolve(weight_group group, const char* modules, const std::string& prefix, Take&& take) {
    const bool may_be_quantized = is_quantized() && modules != nullptr &&
                                  (group.kind == tensor_kind::linear || group.kind == tensor_kind::table);
    if (!may_be_quantized) return take(group);
    std::vector<std::uint8_t> precisions;
    std::string_view rest = modules;
    for (bool more = true; more;) {
      const std::size_t bar = rest.find('|');
      more = bar != std::string_view::npos;
      precisions.push_back(precision_of(prefix + own_name(rest.substr(0, bar)), group.kind));
      if (more) rest.remove_prefix(bar + 1);
    }
    const auto parts = static_cast<std::uint32_t>(precisions.size());
    const bool same = std::equal(precisions.begin() + 1, precisions.end(), precisions.begin());
    if (same || group.copies % parts != 0) {
      // Matrices that cannot be told apart are counted in the widest of their formats.
      return take(group.in(*std::min_element(precisions.begin(), precisions.end())));
    }
    group.copies /= parts;
    for (const std::uint8_t precision : precisions) take(group.in(precision));
  }
  /// What the family calls a module.
  [[nodiscard]] std::string own_name(std::string_view module) const {
    for (const module_rename& rename : family_.renames) {
      if (rename.usual == nullptr) break;
      const std::string_view usual = rename.usual;
      const bool named =
          module.starts_with(usual) && (module.size() == usual.size() || module[usual.size()] == '.');
      if (named) return std::string(rename.own).append(module.substr(usual.size()));
    }
    return std::string(module);
  }
  [[nodiscard]] std::uint8_t precision_of(const std::string& module, tensor_kind kind) {
    const std::optional<weight_scheme> scheme = stored_.scheme_of(module, kind);
    return scheme ? model_.precision_of(*scheme) : std::uint8_t{0};
  }
  /// Draft groups of one shape are kept as one.
  void add_draft(const weight_group& group) {
    for (std::size_t i = 0; i < model_.weight_count; ++i) {
      weight_group& there = model_.weights[i];
      weight_group more = group;
      more.copies = there.copies;
      const std::uint64_t copies = std::uint64_t{there.copies} + group.copies;
      if (!(more == there) || copies > UINT32_MAX) continue;
      there.copies = static_cast<std::uint32_t>(copies);
      return;
    }
    model_.add(group);
  }

  model_architecture& model_;
  const model_family& family_;
  stored_modules stored_;
  bool draft_stores_known_ = true;
};

}  // namespace kvbudget::inline v0::detail
