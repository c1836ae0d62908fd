#include <string_view>

#include "kvbudget/kvbudget.hpp"
#include "support/catch.hpp"

using namespace kvbudget;

namespace {

/// A layer, a tower that is known only as a total, and a tower with shapes behind it.
model_architecture with_towers() {
  model_architecture model{};
  model.hidden_size = 64;
  layer_kind layer{};
  layer.add(stores::full(1, 64));
  layer.add({.rows = 64, .columns = 64, .role = module_role::attention});
  model.add_layers(layer, 2);
  model.add({.rows = 1000, .role = module_role::vision, .rule = shard_rule::spread});
  model.add({.rows = 8, .columns = 8, .role = module_role::audio});
  return model;
}

basis known_of(const model_architecture& model, std::string_view name) {
  const deployment d{.model = model, .dtype = formats::bf16};
  memory_budget budget{};
  add_weights(budget, d, share_of(d, rank{}));
  for (std::size_t i = 0; i < budget.count; ++i) {
    if (name == budget.lines[i].name) return budget.lines[i].known;
  }
  FAIL("no such line");
  return basis::exact;
}

}  // namespace

TEST_CASE("a total without shapes is assumed, where it stands") {
  const model_architecture model = with_towers();
  CHECK(known_of(model, "weights") == basis::assumed);
  CHECK(known_of(model, "weights.vision") == basis::assumed);
  CHECK(known_of(model, "weights.audio") == basis::exact);
  CHECK(known_of(model, "weights.attention") == basis::exact);
}

TEST_CASE("weights of a model that is only assumed are assumed") {
  model_architecture model = with_towers();
  model.weight_count = 0;
  CHECK(known_of(model, "weights") == basis::exact);
  model.parameters_assumed = true;
  CHECK(known_of(model, "weights") == basis::assumed);
  CHECK(known_of(model, "weights.attention") == basis::exact);
}
