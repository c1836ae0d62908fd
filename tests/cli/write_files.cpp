#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/gguf_shapes.hpp"
#include "support/gguf_writer.hpp"
#include "support/safetensors_writer.hpp"

// Writes the binary files that the tests of the command line read, and those of examples/models, into a
// folder: headers for real, data left away or left as a hole.
namespace {

/// Every tensor of examples/models/tied-head/config.json, a copy of the tied head, and a buffer.
tests::safetensors_writer tied_head() {
  tests::safetensors_writer file;
  const std::string layer = "model.layers.0.";
  file.add("model.embed_tokens.weight", "F16", {1000, 256})
      .add("lm_head.weight", "F16", {1000, 256})
      .add("model.norm.weight", "F16", {256})
      .add(layer + "input_layernorm.weight", "F16", {256})
      .add(layer + "post_attention_layernorm.weight", "F16", {256})
      .add(layer + "self_attn.q_proj.weight", "F16", {256, 256})
      .add(layer + "self_attn.k_proj.weight", "F16", {128, 256})
      .add(layer + "self_attn.v_proj.weight", "F16", {128, 256})
      .add(layer + "self_attn.o_proj.weight", "F16", {256, 256})
      .add(layer + "self_attn.rotary_emb.inv_freq", "F32", {32})
      .add(layer + "mlp.gate_proj.weight", "F16", {512, 256})
      .add(layer + "mlp.up_proj.weight", "F16", {512, 256})
      .add(layer + "mlp.down_proj.weight", "F16", {256, 512});
  return file;
}

tests::gguf_writer small_gguf(const char* architecture) {
  return tests::gguf_shape_writer({.architecture = architecture,
                                   .layers = 6,
                                   .hidden = 512,
                                   .heads = 8,
                                   .kv_heads = 2,
                                   .head_dim = 64,
                                   .ff = 1536,
                                   .vocabulary = 4096,
                                   .matrix = tests::q4_k,
                                   .table = tests::q6_k,
                                   .tied = true})
      .written();
}

tests::gguf_writer projector() {
  tests::gguf_writer file;
  file.text("general.architecture", "clip").flag("clip.has_vision_encoder", true);
  file.tensor("v.patch_embd.weight", tests::f16, {14, 14, 3, 64})
      .tensor("mm.0.weight", tests::f16, {64, 512});
  return file;
}

void write_start(const std::filesystem::path& path, const std::string& start) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << start;
}

void write_all(const std::filesystem::path& folder) {
  const std::string header = small_gguf("llama").header();
  write_start(folder / "tied-head/model.safetensors", tied_head().start());  // as in examples/models
  write_start(folder / "small-q4.gguf", header);                             // as in examples/models
  write_start(folder / "cut.gguf", header.substr(0, header.size() / 2));
  write_start(folder / "unknown.gguf", small_gguf("lama").header());
  projector().write(folder / "mmproj.gguf");
  small_gguf("llama").write(folder / "whole.gguf");
  write_start(folder / "cut/model.safetensors", tied_head().start().substr(0, 100));
  tied_head().write(folder / "whole.safetensors");
  write_start(folder / "other-shape/model.safetensors",
              tests::safetensors_writer{}.add("model.embed_tokens.weight", "F16", {1000, 256}).start());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: kvbudget_test_files FOLDER\n", stderr);
    return 2;
  }
  try {
    write_all(argv[1]);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "kvbudget_test_files: %s\n", problem.what());
    return 1;
  }
  return 0;
}
