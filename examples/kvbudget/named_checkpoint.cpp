#include "named_checkpoint.hpp"

#include "kvbudget/lookup/model_lookup.hpp"
#include "kvbudget/models.hpp"

namespace cli {

using namespace kvbudget;

namespace {

/// Endings that publishers use, longest first; what they leave in 16 bits is the scheme's convention.
struct ending {
  const char* text;
  const char* scheme;
};
constexpr ending endings[] = {
    {"-quantized.w8a8", "int8_channel"},
    {"-quantized.w4a16", "w4a16"},
    {"-FP8-dynamic", "fp8_channel"},
    {"-FP8-block", "fp8_block"},
    {"-AWQ-INT4", "awq"},
    {"-AWQ-4bit", "awq"},
    {"-GPTQ-Int4", "gptq"},
    {"-bnb-4bit", "nf4"},
    {"-NVFP4", "nvfp4"},
    {"-W8A8", "int8_channel"},
    {"-W4A16", "w4a16"},
    {"-INT4", "w4a16"},
    {"-GPTQ", "gptq"},
    {"-AWQ", "awq"},
    {"-FP8", "fp8_block"},
};

/// What llama.cpp calls the types of its files. Most of them give a few tensors a larger format than the one
/// that they are named after.
struct file_type {
  const char* text;
  const char* scheme;
  bool mixed = true;
};
constexpr file_type file_types[] = {
    {"F32", "fp32", false}, {"F16", "fp16", false}, {"BF16", "bf16", false}, {"Q8_0", "q8_0", false},
    {"MXFP4_MOE", "mxfp4"}, {"MXFP4", "mxfp4"},     {"Q4_0", "q4_0"},        {"Q4_1", "q4_1"},
    {"Q5_0", "q5_0"},       {"Q5_1", "q5_1"},       {"Q2_K", "q2_K"},        {"Q2_K_S", "q2_K"},
    {"Q2_K_L", "q2_K"},     {"Q2_K_XL", "q2_K"},    {"Q3_K_S", "q3_K"},      {"Q3_K_M", "q3_K"},
    {"Q3_K_L", "q3_K"},     {"Q3_K_XL", "q3_K"},    {"Q4_K_S", "q4_K"},      {"Q4_K_M", "q4_K"},
    {"Q4_K_L", "q4_K"},     {"Q4_K_XL", "q4_K"},    {"Q5_K_S", "q5_K"},      {"Q5_K_M", "q5_K"},
    {"Q5_K_L", "q5_K"},     {"Q5_K_XL", "q5_K"},    {"Q6_K", "q6_K"},        {"Q6_K_L", "q6_K"},
    {"Q6_K_XL", "q6_K"},    {"Q8_K_XL", "q8_0"},    {"IQ1_S", "iq1_s"},      {"IQ1_M", "iq1_m"},
    {"IQ2_XXS", "iq2_xxs"}, {"IQ2_XS", "iq2_xs"},   {"IQ2_S", "iq2_s"},      {"IQ2_M", "iq2_s"},
    {"IQ3_XXS", "iq3_xxs"}, {"IQ3_XS", "iq3_xxs"},  {"IQ3_S", "iq3_s"},      {"IQ3_M", "iq3_s"},
    {"IQ4_XS", "iq4_xs"},   {"IQ4_NL", "iq4_nl"},   {"TQ1_0", "tq1_0"},      {"TQ2_0", "tq2_0"},
};

bool ends_with_any_case(const std::string& name, const std::string& tail) {
  if (name.size() <= tail.size()) return false;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  for (std::size_t i = 0; i < tail.size(); ++i) {
    if (lower(name[name.size() - tail.size() + i]) != lower(tail[i])) return false;
  }
  return true;
}

const model_architecture* in_catalogue(const std::string& name) {
  if (const model_architecture* found = models::find(name.c_str())) return found;
  const std::size_t slash = name.rfind('/');
  return slash == std::string::npos ? nullptr : models::find(name.substr(slash + 1).c_str());
}

/// `NAME-Q4_K_M`, `NAME.Q4_K_M`, `NAME-GGUF:Q4_K_M`, `NAME-UD-Q4_K_XL`, `NAME-GGUF`. The last means, as for
/// llama.cpp, Q4_K_M, or the format that the model comes in.
std::optional<named_checkpoint> gguf_named(const std::string& name) {
  std::string rest = name;
  const file_type* type = nullptr;
  std::string said;
  for (const file_type& each : file_types) {
    if (!ends_with_any_case(name, each.text)) continue;
    const std::size_t at = name.size() - std::string(each.text).size();
    if (name[at - 1] != '-' && name[at - 1] != '.' && name[at - 1] != ':') continue;
    type = &each;
    said = name.substr(at);
    rest = name.substr(0, at - 1);
    if (ends_with_any_case(rest, "-UD") || ends_with_any_case(rest, ":UD")) rest.resize(rest.size() - 3);
  }
  const bool repository = ends_with_any_case(rest, "-GGUF");
  if (repository) rest.resize(rest.size() - 5);
  if (type == nullptr && !repository) return std::nullopt;
  const model_architecture* found = in_catalogue(rest);
  if (found == nullptr) return std::nullopt;
  if (type != nullptr) return named_checkpoint{found, type->scheme, said, true, type->mixed};
  if (found->precision_count != 0) return named_checkpoint{found, "auto", "GGUF", true};
  return named_checkpoint{found, "q4_K", "GGUF", true, true};
}

}  // namespace

std::optional<named_checkpoint> checkpoint_named(const std::string& name) {
  for (const ending& each : endings) {
    if (!ends_with_any_case(name, each.text)) continue;
    const std::size_t length = std::string(each.text).size();
    if (const model_architecture* found = in_catalogue(name.substr(0, name.size() - length))) {
      return named_checkpoint{found, each.scheme, name.substr(name.size() - length + 1)};
    }
  }
  return gguf_named(name);
}

}  // namespace cli
