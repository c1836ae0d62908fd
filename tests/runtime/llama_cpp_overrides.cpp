// `--override-tensor`: which tensors patterns take, and what is refused.
#include "kvbudget/io/llama_cpp_overrides.hpp"

#include <cstdint>
#include <string>

#include "kvbudget/models.hpp"
#include "support/catch.hpp"

using namespace kvbudget;

namespace {

using part = llama_cpp_tensor;

std::uint32_t layers_with(const llama_cpp_overrides& found, part which, const model_architecture& model) {
  std::uint32_t count = 0;
  for (std::uint32_t layer = 0; layer < model.num_hidden_layers; ++layer) {
    if (found.tensors.has(which, layer)) ++count;
  }
  return count;
}

std::string why(const std::string& text, const model_architecture& model = models::qwen3_30b_a3b) {
  try {
    (void)llama_cpp_overrides_of(text, model);
  } catch (const input_error& problem) {
    return problem.what();
  }
  return "";
}

}  // namespace

TEST_CASE("override-tensor: all experts, as --cpu-moe has them") {
  const model_architecture& model = models::qwen3_30b_a3b;
  engines::llama_cpp by_option;
  by_option.cpu_moe = true;
  deployment d{.model = model};
  d.weights = formats::q4_k;
  d.workload = {.sequences = 1, .context = tokens{4096}};
  by_option.sized_for_requests = true;
  for (const char* text : {"exps=CPU", ".ffn_.*_exps.=CPU", "\\.ffn_(up|down|gate)_(ch|)exps=CPU",
                           "blk\\.\\d+\\.ffn_(up|gate)_exps=CPU,down_exps=CPU", "exps=CUDA_Host"}) {
    INFO(text);
    const llama_cpp_overrides found = llama_cpp_overrides_of(text, model);
    CHECK(found.notes.empty());
    CHECK(layers_with(found, part::expert_gate, model) == 48);
    CHECK(layers_with(found, part::expert_up, model) == 48);
    CHECK(layers_with(found, part::expert_down, model) == 48);
    CHECK(layers_with(found, part::attention, model) == 0);
    CHECK(layers_with(found, part::router, model) == 0);
    CHECK(!found.tensors.head);
    engines::llama_cpp by_pattern;
    by_pattern.sized_for_requests = true;
    by_pattern.host_tensors = found.tensors;
    const llama_cpp_memory a = llama_cpp_memory_of(by_option, d);
    const llama_cpp_memory b = llama_cpp_memory_of(by_pattern, d);
    CHECK(a.gpus[0].total() == b.gpus[0].total());
    CHECK(a.host.total() == b.host.total());
  }
}

TEST_CASE("override-tensor: layers and parts by name") {
  const model_architecture& model = models::qwen3_30b_a3b;
  const llama_cpp_overrides some =
      llama_cpp_overrides_of("blk\\.([0-9]|1[0-9])\\.ffn_up_exps=CPU,^output\\.weight$=CPU", model);
  CHECK(layers_with(some, part::expert_up, model) == 20);
  CHECK(some.tensors.has(part::expert_up, 19));
  CHECK(!some.tensors.has(part::expert_up, 20));
  CHECK(layers_with(some, part::expert_down, model) == 0);
  CHECK(some.tensors.head);

  const llama_cpp_overrides all = llama_cpp_overrides_of(".*=CPU", model);
  CHECK(layers_with(all, part::attention, model) == 48);
  CHECK(layers_with(all, part::router, model) == 48);
  CHECK(all.tensors.head);

  // A tied head is the token table under its own name; without one the table is on the host anyway.
  CHECK(llama_cpp_overrides_of("token_embd=CPU", models::gemma_3_27b).tensors.head);
  CHECK(!llama_cpp_overrides_of("token_embd=CPU", model).tensors.any());

  const model_architecture& dense = models::llama_3_1_8b;
  const llama_cpp_overrides down = llama_cpp_overrides_of("ffn_down=CPU", dense);
  CHECK(layers_with(down, part::mlp_down, dense) == 32);
  CHECK(layers_with(down, part::mlp_up, dense) == 0);
  const model_architecture& shared = models::deepseek_v3;
  CHECK(layers_with(llama_cpp_overrides_of("shexp=CPU", shared), part::shared_expert, shared) == 58);
  CHECK(layers_with(llama_cpp_overrides_of("attn=CPU", shared), part::attention, shared) == 61);
}

TEST_CASE("override-tensor: patterns without effect are said, others are refused") {
  const llama_cpp_overrides none = llama_cpp_overrides_of("zzz=CPU,exps=CPU", models::llama_3_1_8b);
  REQUIRE(none.notes.size() == 2);
  CHECK(none.notes[0] == "pattern \"zzz\" matches no tensor of llama-3.1-8b");
  CHECK(!none.tensors.any());

  for (const char* text : {"", "exps", "=CPU", "exps=CPU,", "exps=CPU,,x=CPU"}) {
    INFO(text);
    CHECK(why(text).find(" is not PATTERN=CPU") != std::string::npos);
  }
  CHECK(why("exps=CUDA0") == "buffer \"CUDA0\" is not modelled, expected CPU: PATTERN=CPU");
  CHECK(why("exps=") == "buffer \"\" is not modelled, expected CPU: PATTERN=CPU");
  CHECK(why("exps=_Host") == "buffer \"_Host\" is not modelled, expected CPU: PATTERN=CPU");
  CHECK(why("attn_k=CPU") ==
        "the patterns take blk.0.attn_k but not blk.0.attn_q: only together are they counted on the host");
  CHECK(why("x=CPU,(=CPU") == "pattern 2: regular expression \"(\" ends in an open group");
  CHECK(why("a)(?:b=CPU") == "pattern 1: regular expression \"a)(?:b\" closes a group that is not open");
  CHECK(why(std::string(501, 'a') + "=CPU").find("at most 256 patterns of at most 500") != std::string::npos);
  std::string many = "a=CPU";
  for (int i = 0; i < 256; ++i) many += ",a=CPU";
  CHECK(why(many).find("at most 256 patterns") != std::string::npos);
  CHECK(why("(((((((((((a*)*)*)*)*)*)*)*)*)*)*)*b=CPU").empty());  // no name takes long
}
