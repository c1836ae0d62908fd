#include <cstdint>
#include <string>
#include <vector>

#include "kvbudget/kvbudget.hpp"
#include "kvbudget/models.hpp"
#include "kvbudget/report/model.hpp"
#include "support/catch.hpp"

using namespace kvbudget;

namespace {

/// Layers one after the other, told apart by what they keep and by the width of their MLP.
struct layer_of {
  store kept{};  ///< kind none = nothing
  std::uint32_t intermediate_size = 0;
  std::uint32_t heads = 0;
};

std::string order_of(const std::vector<layer_of>& layers) {
  model_architecture model{};
  model.hidden_size = 64;
  for (const layer_of& each : layers) {
    layer_kind layer{};
    if (each.kept.kind != store_kind::none) layer.add(each.kept);
    layer.intermediate_size = each.intermediate_size;
    layer.num_attention_heads = each.heads;
    model.add_layers(layer, 1);
  }
  return report::layer_order(model);
}

constexpr store full = stores::full(2, 64);
constexpr store window = stores::sliding_window(full, 512);

}  // namespace

TEST_CASE("the order of layers in words") {
  CHECK(report::layer_order(models::gemma_3_27b) ==
        "5×(sliding 1024) + 1×full, repeated 10 times; then 2×(sliding 1024)");
  CHECK(report::layer_order(models::llama_3_1_8b) == "32×full");
  CHECK(order_of({{full}, {window}, {window}}) == "1×full + 2×(sliding 512)");
  CHECK(order_of({{full, 10}, {full, 20}, {full, 20}}) == "1×(full, mlp 10) + 2×(full, mlp 20)");
  CHECK(order_of({{full, 10}, {window, 20}}) == "1×full + 1×(sliding 512)");
  CHECK(order_of({{full, 0, 4}, {full, 0, 8}}) == "1×(full, 4/0 heads) + 1×(full, 8/0 heads)");
  CHECK(order_of({{{}, 10}, {full}, {{}, 10}, {full}}) == "1×(mlp 10) + 1×full, repeated 2 times");
  CHECK(order_of({{{}, 10, 4}, {{}, 10, 4}}) == "2×encoder");
}

TEST_CASE("a store in words") {
  CHECK(report::store_text(full) == "2 KV heads of 64");
  CHECK(report::store_text(stores::full(1, 64)) == "1 KV head of 64");
  CHECK(report::store_text(stores::sliding_window(full, 4096)) == "2 KV heads of 64, window 4,096");
  CHECK(report::store_text(stores::cross_attention(2, 64, 1500)) ==
        "2 KV heads of 64 over 1,500 encoder tokens");
  CHECK(report::store_text(stores::cross_attention(2, 64, 0)) ==
        "2 KV heads of 64 for each token of an image, none counted");
}
