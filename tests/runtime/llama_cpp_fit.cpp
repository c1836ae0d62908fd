// What fits into llama.cpp's GPUs: the cases of tests/static/llama_cpp_fit.cpp at run time, published logs of
// --fit, worked models, and properties of random models, options and GPUs (fixed seeds).
#include "support/llama_cpp_fit.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/random.hpp"

namespace llama_cpp_fit_cases {
#define CASE(...) CHECK((__VA_ARGS__))

TEST_CASE("llama.cpp's fit of a small model, and what fits of it") {
#include "cases/llama_cpp_fit.inc"
}

namespace {
std::uint64_t in_mib(bytes amount) { return amount.value / mib; }
std::uint64_t difference(std::uint64_t a, std::uint64_t b) { return a < b ? b - a : a - b; }
/// Within so many thousandths.
bool is_near(std::uint64_t ours, std::uint64_t logged, std::uint64_t thousandths) {
  return difference(ours, logged) * 1000 <= logged * thousandths;
}
}  // namespace

// ---- published logs --------------------------------------------------------------------------------------

TEST_CASE("fit of Qwen3-30B-A3B in f16 on an RTX 4090, as llama.cpp's own documentation shows it") {
  // ggml-org/llama.cpp, tools/fit-params/README.md (build 6895). 24,077 MiB are what the GPU has in all; that
  // 20,386 are free follows from "need to reduce device memory by 42444 MiB" and "19187 used, 1199 free".
  const deployment d = deployed(models::qwen3_30b_a3b, formats::fp16);
  const llama_cpp asked{.program = llama_cpp_program::library};
  const auto found = gpu_set<1>({20386}).fit(asked, d);
  CHECK(in_mib(found.gpus[0].at_first) == 61807);
  REQUIRE(found.step_count == 4);
  CHECK(found.steps[0] == llama_cpp_fit_step{.before = 40960, .after = 4096});
  llama_cpp least = asked;
  least.n_ctx = 4096;
  const bytes at_least = llama_cpp_memory_of(least, d, 1).gpus[0].total();
  CHECK(in_mib(found.gpus[0].at_first - at_least) == 3456);
  least.cpu_moe = true;  // "with only dense weights in device memory there is a total surplus of 16164 MiB"
  CHECK(is_near(20386 - 1024 - in_mib(llama_cpp_memory_of(least, d, 1).gpus[0].total()), 16164, 1));
  // Then it differs: that build took 48 layers, 14 of them whole (19,187 MiB); newer ones take the head, and
  // part of one more layer.
  CHECK(found.gpus[0].n_layer == 49);
  CHECK(found.gpus[0].n_layer - found.gpus[0].n_part == 14);
  CHECK(is_near(in_mib(found.gpus[0].used), 19187, 10));
  CHECK(found.meets_targets());
}

TEST_CASE("fit of Hermes 3 8B on an RTX 2060, by a log of Ollama") {
  // Q4_0 with its head in Q6_K (225 and 1 tensors), `-c 32768 -np 1 -b 512 -ub 512`, llama.cpp 74ade5274,
  // June 2026; 5,141 MiB free, 1,024 to stay free.
  static const model_architecture hermes = stored_in(models::llama_3_1_8b, formats::q4_0, formats::q6_k);
  const deployment d = deployed(hermes);
  llama_cpp asked = one_slot(32768);
  asked.n_batch = 512;
  const auto found = gpu_set<1>({5141}).fit(asked, d);
  CHECK(in_mib(found.gpus[0].at_first) == 8392);
  CHECK(found.options.n_gpu_layers == 15);
  CHECK(found.options.n_ctx == 32768);
  CHECK_FALSE(found.gave_up);

  const auto held = [&](std::int32_t layers) { return llama_cpp_memory_of(on_layers(asked, layers), d, 1); };
  CHECK(in_mib(held(-1).gpus[0].model_total()) == 4155);
  CHECK(in_mib(held(-1).gpus[0].context_total()) == 4096);
  CHECK(in_mib(held(-1).gpus[0].compute_total()) == 140);
  CHECK(in_mib(held(15).gpus[0].model_total()) == 2049);
  CHECK(in_mib(held(15).gpus[0].context_total()) == 1792);
  CHECK(in_mib(held(15).host.model_total()) == 2388);
  // 4,089 MiB in all with 15 layers, 4,334 with 16: the copies of a layer's keys and values did not find one
  // hole for both, which only our bound counts.
  for (const auto& [layers, used] :
       {std::pair{15, std::uint64_t{4089}}, std::pair{16, std::uint64_t{4334}}}) {
    const llama_cpp_buffers& here = held(layers).gpus[0];
    const bytes rest = here.model_total() + here.context_total();
    CHECK(in_mib(rest + bytes{here.compute.range.low}) <= used);
    CHECK(in_mib(rest + bytes{here.compute.range.high}) >= used);
  }
  CHECK(held(16).gpus[0].total() > bytes{(5141 - 1024) * mib});
}

TEST_CASE("fit of DeepSeek-R1-Distill-Qwen-14B on one and two GPUs, with -ngl 99") {
  // Q4_K_M, llama-cli, Vulkan: 8,186 and 8,099 MiB free. It lowers the context and then gives up, as -ngl is
  // set: on one GPU 9,021 MiB are loaded into 8,186.
  static const model_architecture distilled = in_q4_k_m(models::deepseek_r1_distill_qwen_14b);
  const deployment d = deployed(distilled);
  llama_cpp asked{.program = llama_cpp_program::llama_cli};
  asked.n_gpu_layers = 99;

  const auto one = gpu_set<1>({8186}).fit(asked, d);
  CHECK(is_near(in_mib(one.gpus[0].at_first), 32953, 1));
  CHECK(one.options.n_ctx == 4096);
  CHECK(is_near(in_mib(one.gpus[0].used), 9021, 2));
  CHECK(says(one.gave_up, "n_gpu_layers already set by user to #, abort"));
  CHECK(one.gave_up.first == 99);
  CHECK_FALSE(one.meets_targets());

  const auto two = gpu_set<2>({8186, 8099}).fit(asked, d);
  CHECK(is_near(in_mib(two.gpus[0].at_first + two.gpus[1].at_first), 34070, 1));
  REQUIRE(two.step_count == 1);
  CHECK(two.steps[0].before == 131072);
  // 28,160 there: Vulkan's buffers are 60 MiB smaller in all, which is one step of 256 cells.
  CHECK(difference(two.options.n_ctx, 28160) <= 256);
  CHECK(says(two.gave_up, "n_gpu_layers already set by user to #, abort"));
  CHECK(two.meets_targets());
  llama_cpp loaded = asked;
  loaded.n_ctx = 28160;
  const auto held = llama_cpp_memory_of(loaded, d, 2);
  // 3917.36, 4231.02 and 417.66 MiB, rounded to the nearest there.
  CHECK(held.gpus[0].model_total().value * 100 / mib == 391736);
  CHECK(held.gpus[1].model_total().value * 100 / mib == 423101);
  CHECK(held.host.model_total().value * 100 / mib == 41765);
  CHECK(in_mib(held.gpus[0].context_total()) == 2750);
  CHECK(in_mib(held.gpus[1].context_total()) == 2530);
}

// ---- worked models ---------------------------------------------------------------------------------------

namespace {
// [fit]
llama_cpp_fit_result fitted(const deployment& d, const llama_cpp_gpu_memory& gpu) {
  const engines::llama_cpp asked{};  // as the user wrote it
  return llama_cpp_fit(asked, d, &gpu, 1);
}
// [fit]

struct answers {
  llama_cpp_answer moved, context;
  llama_cpp_plan plan;
};
// [questions]
answers asked_of(const deployment& d, const llama_cpp_gpu_memory& gpu) {
  const llama_cpp_room room{.gpus = &gpu, .count = 1, .headroom = bytes{256 * mib}};
  const auto moved = llama_cpp_least_cpu_moe({}, d, room);                 // --n-cpu-moe 19: 18 would not do
  const auto context = llama_cpp_largest_context(moved.options, d, room);  // what is left beside it
  const auto plan = llama_cpp_best_fit({}, d, room);                       // in the usual order of preference
  return {moved, context, plan};
}
// [questions]
}  // namespace

TEST_CASE("Qwen3-30B-A3B in Q8_0 on 24 GB: what --fit does, and what would do") {
  const deployment d = deployed(models::qwen3_30b_a3b, formats::q8_0);
  const gpu_set<1> rtx_4090({24077});
  const llama_cpp_fit_result found = fitted(d, rtx_4090.gpus[0]);
  REQUIRE(found.step_count == 4);
  CHECK(found.steps[0].change == change::context);
  CHECK(found.steps[1] == llama_cpp_fit_step{.change = change::layers, .after = 49});
  CHECK(found.steps[2].change == change::full_layers);
  CHECK(found.steps[2].after == 34);
  CHECK(found.steps[3].change == change::part_of_layer);
  CHECK(found.meets_targets());
  CHECK(found.options.host_tensors.has(llama_cpp_tensor::expert_down, 40));
  CHECK_FALSE(found.options.host_tensors.has(llama_cpp_tensor::expert_down, 20));
  CHECK_FALSE(found.options.host_tensors.has(llama_cpp_tensor::attention, 40));
  // The options that it ends with are what it measured.
  CHECK(llama_cpp_memory_of(found.options, d, 1).gpus[0].total() == found.gpus[0].used);

  // The whole context can stay if a few experts go.
  const auto [moved, context, plan] = asked_of(d, rtx_4090.gpus[0]);
  const llama_cpp_room room{.gpus = rtx_4090.gpus, .count = 1, .headroom = bytes{256 * mib}};
  CHECK(moved.fits);
  CHECK(context.everything);
  CHECK(moved.value == 19);
  CHECK_FALSE(
      llama_cpp_need_of(llama_cpp{.n_cpu_moe = static_cast<std::uint32_t>(moved.value - 1)}, d, room).fits());
  CHECK(plan.fits);
  CHECK(plan.options.n_ctx == 40960);
  CHECK(plan.gave_up[static_cast<std::size_t>(llama_cpp_concession::experts)]);
  CHECK_FALSE(plan.gave_up[static_cast<std::size_t>(llama_cpp_concession::context)]);
  CHECK_FALSE(plan.gave_up[static_cast<std::size_t>(llama_cpp_concession::layers)]);
}

TEST_CASE("Llama 3.1 70B in Q4_K on two GPUs of 24 GB") {
  const deployment d = deployed(models::llama_3_1_70b, formats::q4_k);
  const gpu_set<2> two({24077, 24077});
  const auto found = two.fit({}, d);
  REQUIRE(found.step_count == 3);
  CHECK(found.steps[0].change == change::context);
  CHECK(found.steps[0].before == 131072);
  CHECK(found.steps[0].after % 256 == 0);
  CHECK(found.steps[1] == llama_cpp_fit_step{.change = change::layers, .gpu = 1, .after = 41});
  CHECK(found.steps[2] == llama_cpp_fit_step{.change = change::layers, .gpu = 0, .after = 40});
  CHECK(found.options.n_gpu_layers == 81);
  CHECK(found.options.tensor_split[0] == 40);
  CHECK(found.options.tensor_split[1] == 41);
  CHECK(found.meets_targets());
  // With 8,192 tokens Llama 3 fits as it is.
  CHECK_FALSE(two.fit({}, deployed(models::llama_3_70b, formats::q4_k)).changed());

  // Without the reserve of half a layer per GPU and with 456 MiB counted instead of 1,024, more fits.
  const auto context = llama_cpp_largest_context({}, d, two.room());
  CHECK(context.fits);
  CHECK(context.value > found.options.n_ctx);
  CHECK_FALSE(llama_cpp_need_of(llama_cpp{.n_ctx = context.value + 1}, d, two.room()).fits());
}

TEST_CASE("GLM-4.7 in Q4_K on five GPUs") {
  const deployment d = deployed(models::glm_4_7, formats::q4_k);
  const gpu_set<5> five({24077, 24077, 24077, 96000, 96000});
  const auto found = five.fit({}, d);
  CHECK_FALSE(found.gave_up);
  CHECK(found.options.n_ctx < 202752);
  CHECK(found.options.n_gpu_layers == 93);
  CHECK(found.meets_targets());
  // Layers that do not fit whole overflow to the next GPU, not to the host.
  CHECK(found.gpus[0].overflows_to_next);
  CHECK_FALSE(found.gpus[4].overflows_to_next);
  std::uint32_t layers = 0;
  for (std::uint32_t i = 0; i < 5; ++i) layers += found.gpus[i].n_layer;
  CHECK(layers == 93);
  CHECK(in_mib(found.host) < 1024);

  // Too small for it: the experts of the last layers stay on the host.
  const auto small = gpu_set<5>({24077, 24077, 24077, 24077, 16000}).fit({}, d);
  CHECK(small.options.n_ctx == 4096);
  CHECK(small.options.n_gpu_layers == 93);
  CHECK(small.options.host_tensors.has(llama_cpp_tensor::expert_gate, 80));
  CHECK(small.meets_targets());
}

TEST_CASE("experts that the user has moved stop --fit") {
  // ggml-org/llama.cpp issue 27872: the deficit is seen, and loading goes on into it.
  const deployment d = deployed(models::qwen3_30b_a3b, formats::q8_0);
  llama_cpp asked{.n_ctx = 40960, .n_cpu_moe = 2};
  const auto found = gpu_set<1>({24077}).fit(asked, d);
  CHECK(says(found.gave_up, "model_params::tensor_buft_overrides already set by user, abort"));
  CHECK_FALSE(found.meets_targets());
  CHECK(llama_cpp_best_fit(asked, d, gpu_set<1>({24077}).room()).fits);
}

TEST_CASE("padding: three sequences of 16384 tokens together are three times 5632 cells") {
  const deployment d = deployed(models::llama_3_8b, formats::q4_k);
  llama_cpp asked;
  asked.n_parallel = 3;
  asked.n_ctx = 16384;
  CHECK(llama_cpp_cache::sizes_of(asked, models::llama_3_8b).n_ctx == 16896);
  const gpu_set<1> gpus({7000});
  const auto found = llama_cpp_largest_context(asked, d, gpus.room());
  REQUIRE(found.fits);
  CHECK(found.value % (3 * 256) == 0);
  const auto with = [&](std::uint64_t n_ctx) {
    llama_cpp other = asked;
    other.n_ctx = n_ctx;
    return llama_cpp_need_of(other, d, gpus.room());
  };
  CHECK(with(found.value).fits());
  CHECK_FALSE(with(found.value + 1).fits());
  CHECK(with(found.value + 1).gpus[0] == with(found.value + 3 * 256).gpus[0]);
}

TEST_CASE("cache types are tried from the widest, and refused ones are passed over") {
  const deployment d = deployed(models::llama_3_8b, formats::q4_k);
  const llama_cpp asked = one_slot(131072);
  const auto answer = [&](std::uint64_t free_mib) {
    return llama_cpp_best_cache_types(asked, d, gpu_set<1>({free_mib}).room());
  };
  CHECK(answer(24000).value == 0);
  CHECK(answer(15000).value == 1);
  CHECK(answer(15000).options.type_v == type::q8_0);
  CHECK(answer(15000).options.flash_attn == llama_cpp_flash_attn::on);
  CHECK(answer(11000).value == 2);
  CHECK(says(answer(8000).why, "GPU # lacks # bytes with every one of these cache types"));
  // Grok has no flash attention, so it keeps what needs none.
  static model_architecture capped = models::llama_3_8b;
  kvbudget::detail::assign_text(capped.model_type, "grok");
  const auto kept =
      llama_cpp_best_cache_types(asked, deployed(capped, formats::q4_k), gpu_set<1>({8000}).room());
  CHECK_FALSE(kept.fits);
  CHECK(kept.value == 0);
}

// ---- properties ------------------------------------------------------------------------------------------

namespace {
struct random_machine {
  std::vector<llama_cpp_gpu_memory> gpus;
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(gpus.size()); }
  [[nodiscard]] llama_cpp_room room() const { return {.gpus = gpus.data(), .count = count()}; }
};

const model_architecture& random_model(random_engine& random) { return *one_of(random, models::all); }

llama_cpp random_options(random_engine& random) {
  llama_cpp asked;
  asked.program = static_cast<llama_cpp_program>(pick(random, 0, 2));
  asked.n_ctx = coin(random) ? 0 : pick(random, 1, 40'000);
  asked.n_parallel = pick(random, 0, 5);
  asked.kv_unified = static_cast<option_choice>(pick(random, 0, 2));
  asked.n_ubatch = coin(random) ? 512 : pick(random, 32, 2048);
  if (pick(random, 0, 3) == 0) asked.type_k = asked.type_v = type::q8_0;
  asked.flash_attn = static_cast<llama_cpp_flash_attn>(pick(random, 0, 2));
  if (pick(random, 0, 3) == 0) asked.n_gpu_layers = static_cast<std::int32_t>(pick(random, 1, 99));
  if (pick(random, 0, 5) == 0) asked.n_cpu_moe = pick32(random, 1, 20);
  if (pick(random, 0, 5) == 0) {
    for (std::uint64_t& share : asked.tensor_split) share = pick(random, 1, 5);
  }
  if (pick(random, 0, 5) == 0) asked.split_mode = static_cast<llama_cpp_split_mode>(pick(random, 0, 2));
  return asked;
}
/// Weights in a format that most models can be stored in, and GPUs that hold a random part of the whole.
deployment random_run(const model_architecture& model, random_engine& random) {
  static constexpr const number_format* stored[] = {&formats::q4_0, &formats::q8_0, &formats::fp16};
  deployment d{.model = model};
  d.dtype = formats::fp16;
  d.weights = weight_scheme{*one_of(random, stored)};
  return d;
}
random_machine machine_for(const llama_cpp& asked, const deployment& d, random_engine& random) {
  random_machine machine;
  const std::uint32_t count = coin(random) ? 1 : pick32(random, 2, 5);
  llama_cpp whole = asked;
  whole.n_gpu_layers = -1;
  whole.n_cpu_moe = 0;
  whole.split_mode = llama_cpp_split_mode::layer;
  const std::uint64_t need = llama_cpp_memory_of(whole, d, count).total().value / count;
  for (std::uint32_t i = 0; i < count; ++i) {
    const bytes free{need * pick(random, 10, 160) / 100 + (coin(random) ? 0 : pick(random, 0, 3072) * mib)};
    machine.gpus.push_back({free, free});
  }
  return machine;
}
bool is_refused(const llama_cpp& asked, const model_architecture& model) {
  llama_cpp whole = asked;
  return static_cast<bool>(llama_cpp_cache::refused(whole, model));
}
bool keeps_every_token(const model_architecture& model) {
  for (std::size_t i = 0; i < model.kind_count; ++i) {
    for (std::size_t j = 0; j < model.kinds[i].store_count; ++j) {
      if (model.kinds[i].stores[j].kind != store_kind::full) return false;
    }
  }
  return true;
}
}  // namespace

TEST_CASE("llama.cpp's fit lowers only what is left to it, in its order, and keeps its margin") {
  random_engine random{20'261'130};
  int runs = 0, changed = 0, gave_up = 0, dealt = 0, kept = 0, missed = 0, overflowed = 0;
  for (int i = 0; i < 700; ++i) {
    const model_architecture& model = random_model(random);
    const deployment d = random_run(model, random);
    const llama_cpp asked = random_options(random);
    INFO(i << ": " << model.name);
    if (is_refused(asked, model)) continue;
    const random_machine machine = machine_for(asked, d, random);
    llama_cpp_fit_settings settings{bytes{pick(random, 0, 1024) * mib}};
    const auto found = llama_cpp_fit(asked, d, machine.gpus.data(), machine.count(), settings);
    ++runs;
    REQUIRE(found.gpu_count == (asked.split_mode == llama_cpp_split_mode::none ? 1u : machine.count()));

    // The user's values.
    if (asked.n_ctx != 0) CHECK(found.options.n_ctx == asked.n_ctx);
    if (asked.n_gpu_layers != -1) CHECK(found.options.n_gpu_layers == asked.n_gpu_layers);
    CHECK(found.options.type_k == llama_cpp_devices::resolved(asked, d).type_k);
    CHECK(found.options.n_parallel == asked.n_parallel);
    if (asked.n_cpu_moe != 0) {
      CHECK(found.options.host_tensors == llama_cpp_devices::resolved(asked, d).host_tensors);
    }
    if (asked.tensor_split[0] != 0 && machine.count() > 1 && found.gpu_count > 1) {
      for (std::uint32_t gpu = 0; gpu < llama_cpp_max_devices; ++gpu) {
        CHECK(found.options.tensor_split[gpu] == asked.tensor_split[gpu]);
      }
    }
    // The context first, then layers from the last GPU on, then whole layers and parts from the first on.
    for (std::uint32_t step = 0; step < found.step_count; ++step) {
      const auto& now = found.steps[step];
      if (step == 0) continue;
      const auto& before = found.steps[step - 1];
      CHECK(now.change != change::context);
      if (now.change == change::layers) {
        CHECK((before.change == change::context || before.gpu == now.gpu + 1));
      } else {
        CHECK(before.change != change::context);
        CHECK((before.change == change::layers || before.gpu <= now.gpu));
      }
    }
    if (found.step_count != 0 && found.steps[0].change == change::context) {
      CHECK(asked.n_ctx == 0);
      CHECK(found.steps[0].after < found.steps[0].before);
      CHECK(found.options.n_ctx == found.steps[0].after);
      CHECK(found.options.n_ctx % 256 == 0);
    }
    if (found.gave_up) {
      ++gave_up;
      CHECK(found.gpus[0].n_layer == 0);
      continue;
    }
    if (!found.changed()) {
      CHECK(found.meets_targets());
      continue;
    }
    ++changed;
    std::uint32_t layers = 0;
    for (std::uint32_t gpu = 0; gpu < found.gpu_count; ++gpu) layers += found.gpus[gpu].n_layer;
    if (found.steps[found.step_count - 1].change == change::context) {
      // Linear in the context where every token is kept, and rounded down.
      if (keeps_every_token(model)) CHECK(found.meets_targets());
    } else {
      ++dealt;
      CHECK(static_cast<std::int64_t>(layers) == found.options.n_gpu_layers);
      // Where something stays on the host. If nothing does, GPUs that were full get copies for a pipeline on
      // top; and a GPU that is given nothing may have too little as it is, or what the host's layers take.
      const bool all = layers == model.num_hidden_layers + 1 && !found.options.host_tensors.any();
      for (std::uint32_t gpu = 0; gpu < found.gpu_count; ++gpu) {
        const bool exempt = found.gpus[gpu].n_layer == 0 || (all && found.gpu_count > 1);
        if (!exempt) CHECK(found.gpus[gpu].meets_target());
      }
    }
    bool overflows = false;
    for (std::uint32_t gpu = 0; gpu < found.gpu_count; ++gpu) {
      overflows = overflows || found.gpus[gpu].overflows_to_next;
    }
    overflowed += overflows;
    found.meets_targets() ? ++kept : ++missed;
    // What it says it uses is what its options use, unless a layer lies on two GPUs.
    if (!overflows && asked.split_mode != llama_cpp_split_mode::none) {
      std::uint64_t free[llama_cpp_max_devices] = {};
      for (std::uint32_t gpu = 0; gpu < machine.count(); ++gpu) free[gpu] = machine.gpus[gpu].free.value;
      const auto memory = llama_cpp_memory_of(found.options, d, machine.count(), free);
      for (std::uint32_t gpu = 0; gpu < found.gpu_count; ++gpu) {
        CHECK(memory.gpus[gpu].total() == found.gpus[gpu].used);
      }
    }
  }
  INFO(runs << " runs, " << changed << " changed, " << gave_up << " gave up, " << dealt << " dealt out, "
            << kept << " kept, " << missed << " missed the margin, " << overflowed << " overflowed");
  CHECK(runs > 400);
  CHECK(changed > 150);
  CHECK(gave_up > 50);
  CHECK(dealt > 100);
  CHECK(overflowed > 5);
  CHECK(kept > 2 * missed);
}

TEST_CASE("the largest context fits and one more cell does not") {
  random_engine random{20'261'131};
  int exact = 0, everything = 0, never = 0;
  for (int i = 0; i < 900; ++i) {
    const model_architecture& model = random_model(random);
    const deployment d = random_run(model, random);
    const llama_cpp asked = random_options(random);
    INFO(i << ": " << model.name);
    if (is_refused(asked, model)) continue;
    const random_machine machine = machine_for(asked, d, random);
    llama_cpp_room room = machine.room();
    room.cautious = coin(random);
    room.headroom = bytes{pick(random, 0, 512) * mib};
    const std::uint64_t limit = pick(random, 1, 16384);
    const auto answer = llama_cpp_largest_context(asked, d, room, limit);
    const auto fits = [&](std::uint64_t n_ctx) {
      llama_cpp other = asked;
      other.n_ctx = n_ctx;
      return llama_cpp_need_of(other, d, room).fits();
    };
    const auto sizes = llama_cpp_cache::sizes_of(llama_cpp_devices::resolved(answer.options, d), model);
    const std::uint64_t step = 256 * sizes.n_stream;
    if (!answer.fits) {
      ++never;
      CHECK(answer.why);
      CHECK(answer.value == 0);
      CHECK_FALSE(fits(1));
      continue;
    }
    CHECK(fits(answer.value));
    CHECK(answer.probes <= 4 + 7 + 12);
    if (answer.value >= asked.n_batch) CHECK(sizes.n_ctx == answer.value);
    if (answer.everything) {
      ++everything;
      CHECK(sizes.n_ctx_seq >= limit);
      CHECK(sizes.n_ctx_seq < limit + 256);
      continue;
    }
    ++exact;
    CHECK_FALSE(fits(answer.value + 1));
    if (i % 8 != 0) continue;
    for (std::uint64_t more = (answer.value / step + 1) * step; more <= (limit + 255) / 256 * step;
         more += step) {
      CHECK_FALSE(fits(more));  // nor any larger one
    }
  }
  INFO(exact << " exact, " << everything << " everything, " << never << " never");
  CHECK(exact > 40);
  CHECK(everything > 60);
  CHECK(never > 40);
}

TEST_CASE("the most layers and the fewest experts are what trying every number gives") {
  random_engine random{20'261'132};
  int exact_layers = 0, exact_experts = 0, never = 0;
  for (int i = 0; i < 250; ++i) {
    const model_architecture& model = random_model(random);
    const deployment d = random_run(model, random);
    llama_cpp asked = random_options(random);
    asked.n_cpu_moe = 0;
    INFO(i << ": " << model.name);
    if (is_refused(asked, model)) continue;
    const random_machine machine = machine_for(asked, d, random);
    const llama_cpp_room room = machine.room();
    INFO(machine.count() << " GPUs");
    const auto fits = [&](const llama_cpp& other) { return llama_cpp_need_of(other, d, room).fits(); };

    const auto layers = llama_cpp_largest_gpu_layers(asked, d, room);
    const std::int32_t all = static_cast<std::int32_t>(model.num_hidden_layers) + 1;
    std::int32_t most = -1;
    for (std::int32_t n = 0; n <= all; ++n) {
      if (fits(on_layers(asked, n))) most = n;
    }
    CHECK(layers.fits == (most >= 0));
    if (layers.fits) {
      CHECK(layers.value == static_cast<std::uint64_t>(most));
      CHECK(layers.options.n_gpu_layers == most);
      exact_layers += !layers.everything;
    } else {
      CHECK(layers.why);
      ++never;
    }

    if (!llama_cpp_fitting::has_experts(model)) continue;
    asked.n_gpu_layers = -1;
    const auto experts = llama_cpp_least_cpu_moe(asked, d, room);
    const auto moved = [&](std::uint32_t n) {
      llama_cpp other = asked;
      other.n_cpu_moe = n;
      return other;
    };
    std::uint32_t fewest = 0;
    while (fewest <= model.num_hidden_layers && !fits(moved(fewest))) ++fewest;
    CHECK(experts.fits == (fewest <= model.num_hidden_layers));
    if (experts.fits) {
      CHECK(experts.value == fewest);
      exact_experts += fewest != 0;
    } else {
      CHECK(experts.why);
    }
  }
  INFO(exact_layers << " layers, " << exact_experts << " experts, " << never << " never");
  CHECK(exact_layers > 30);
  CHECK(exact_experts > 10);
}

TEST_CASE("the best plan fits, gives up nothing that fits, and nothing that can be given back") {
  random_engine random{20'261'133};
  int whole = 0, planned = 0, never = 0;
  for (int i = 0; i < 300; ++i) {
    const model_architecture& model = random_model(random);
    const deployment d = random_run(model, random);
    llama_cpp asked = random_options(random);
    asked.n_gpu_layers = -1;
    asked.n_cpu_moe = 0;
    INFO(i << ": " << model.name);
    if (is_refused(asked, model)) continue;
    const random_machine machine = machine_for(asked, d, random);
    llama_cpp_room room = machine.room();
    if (pick(random, 0, 3) == 0) room.host_free = bytes{pick(random, 1, 64) * 1024 * mib};
    llama_cpp_preferences wishes;
    std::shuffle(wishes.order, wishes.order + llama_cpp_concession_count, random);
    wishes.count = pick(random, 0, llama_cpp_concession_count);
    wishes.narrowest = coin(random) ? type::q8_0 : type::q4_0;
    const auto plan = llama_cpp_best_fit(asked, d, room, wishes);
    const bool any = plan.gave_up[0] || plan.gave_up[1] || plan.gave_up[2] || plan.gave_up[3];
    const auto need = llama_cpp_need_of(plan.options, d, room);
    CHECK(need.fits() == plan.fits);
    CHECK(static_cast<bool>(plan.why) == !plan.fits);
    if (!plan.fits) {
      ++never;
      continue;
    }
    llama_cpp wish = asked;
    const auto sizes = llama_cpp_cache::sizes_of(llama_cpp_devices::resolved(asked, d), model);
    wish.n_ctx = sizes.n_ctx;
    CHECK(any != llama_cpp_need_of(wish, d, room).fits());
    any ? ++planned : ++whole;
    CHECK(plan.options.n_ctx <= wish.n_ctx);
    for (std::size_t what = wishes.count; what < llama_cpp_concession_count; ++what) {
      CHECK_FALSE(plan.gave_up[static_cast<std::size_t>(wishes.order[what])]);
    }
    if (plan.gave_up[static_cast<std::size_t>(llama_cpp_concession::context)]) {
      CHECK(plan.options.n_ctx >= std::min(wish.n_ctx, wishes.n_ctx_min * sizes.n_stream));
      llama_cpp more = plan.options;
      ++more.n_ctx;
      CHECK_FALSE(llama_cpp_need_of(more, d, room).fits());
    }
    if (plan.gave_up[static_cast<std::size_t>(llama_cpp_concession::experts)]) {
      llama_cpp fewer = plan.options;
      --fewer.n_cpu_moe;
      CHECK_FALSE(llama_cpp_need_of(fewer, d, room).fits());
    }
  }
  INFO(whole << " whole, " << planned << " planned, " << never << " never");
  CHECK(whole > 40);
  CHECK(planned > 40);
}

TEST_CASE("without GPUs the context is fitted to the memory of the host") {
  const deployment d = deployed(models::llama_3_1_8b, formats::q4_0);
  llama_cpp_fit_settings settings;
  settings.host_total = bytes{12 * 1024 * mib};
  const auto found = llama_cpp_fit(one_slot(0), d, nullptr, 0, settings);
  CHECK_FALSE(found.gave_up);
  CHECK(found.options.n_ctx < 131072);
  CHECK(found.host + bytes{1024 * mib} <= settings.host_total);
  settings.host_total = bytes{1024 * mib};
  CHECK(says(llama_cpp_fit(one_slot(0), d, nullptr, 0, settings).gave_up,
             "was unable to fit model into system memory by reducing context, abort"));
}

TEST_CASE("a context that was asked for as 0, or is short, is not lowered") {
  const deployment d = deployed(models::llama_3_1_8b, formats::q4_0);
  llama_cpp_fit_settings settings;
  settings.keeps_context = true;
  const auto kept = gpu_set<1>({12000}).fit(one_slot(0), d, settings);
  CHECK(kept.options.n_ctx == 131072);
  CHECK(kept.steps[0].change == change::layers);
  settings.keeps_context = false;
  settings.n_ctx_min = 131072;
  CHECK(gpu_set<1>({12000}).fit(one_slot(0), d, settings).options.n_ctx == 131072);
}

TEST_CASE("room: headroom, caution, the host and unified memory all count") {
  const deployment d = deployed(models::llama_3_8b, formats::q4_0);
  const llama_cpp asked = on_layers(one_slot(8192), 20);
  const gpu_set<1> gpus({24000});
  llama_cpp_room room = gpus.room();
  const auto need = llama_cpp_need_of(asked, d, room);
  REQUIRE(need.fits());
  const llama_cpp_memory memory = llama_cpp_memory_of(asked, d, 1);
  CHECK(need.gpus[0].value == memory.gpus[0].total().value + room.context.expected);
  CHECK(need.host == memory.host.total() + memory.output);
  room.headroom = bytes{24000 * mib} - need.gpus[0];
  CHECK(llama_cpp_need_of(asked, d, room).fits());
  room.headroom = room.headroom + bytes{1};
  CHECK(llama_cpp_need_of(asked, d, room).lacking == bytes{1});
  room.headroom = {};
  room.cautious = true;
  CHECK(llama_cpp_need_of(asked, d, room).gpus[0] > need.gpus[0]);
  room.cautious = false;
  room.host_free = need.host - bytes{1};
  CHECK(llama_cpp_need_of(asked, d, room).host_lacking == bytes{1});
  CHECK(llama_cpp_largest_gpu_layers(asked, d, room).everything);
  room.unified_memory = true;
  CHECK(llama_cpp_need_of(asked, d, room).gpus[0] == need.gpus[0] + need.host);
}

TEST_CASE("memory that no GPU has, or none at all, and GPUs that there are not") {
  const deployment d = deployed(models::qwen3_30b_a3b, formats::q4_0);
  constexpr std::uint64_t most = ~std::uint64_t{0};
  std::vector<llama_cpp_gpu_memory> gpus(5, {bytes{most}, bytes{most}});
  CHECK_FALSE(llama_cpp_fit({}, d, gpus.data(), 5).changed());
  CHECK_FALSE(llama_cpp_fit({}, d, gpus.data(), 5, llama_cpp_fit_settings{bytes{most}}).meets_targets());
  CHECK(llama_cpp_best_fit({}, d, {.gpus = gpus.data(), .count = 5}).fits);
  gpus.assign(5, {});
  const auto nothing = llama_cpp_fit({}, d, gpus.data(), 5);
  CHECK(nothing.changed());
  CHECK_FALSE(nothing.meets_targets());
  const auto plan = llama_cpp_best_fit({}, d, {.gpus = gpus.data(), .count = 5});
  CHECK_FALSE(plan.fits);
  CHECK(plan.why);
  CHECK(plan.need.lacking != bytes{});
  CHECK_FALSE(llama_cpp_largest_context({}, d, {.gpus = gpus.data(), .count = 5}).fits);

  gpus.assign(17, gpu_with(24000));
  CHECK_THROWS_AS(llama_cpp_fit({}, d, gpus.data(), 17), error);
  CHECK_THROWS_AS(llama_cpp_best_fit({}, d, {.gpus = gpus.data(), .count = 17}), error);
  CHECK_THROWS_AS(llama_cpp_fit({.main_gpu = 2}, d, gpus.data(), 2), error);
  // Without a GPU everything is on the host.
  const auto on_host = llama_cpp_best_fit({}, d, {.host_free = bytes{64 * 1024 * mib}});
  CHECK(on_host.fits);
  CHECK(on_host.need.gpu_count == 0);
  CHECK(on_host.need.host > bytes{15 * 1024 * mib});
}
}  // namespace llama_cpp_fit_cases
