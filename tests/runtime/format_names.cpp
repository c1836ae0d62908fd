// Formats, modules, counts and sizes as people type them.
#include "kvbudget/io/format_names.hpp"

#include <set>
#include <string>

#include "kvbudget/io/quantity_text.hpp"
#include "support/catch.hpp"

namespace {

using namespace kvbudget;
using namespace kvbudget::literals;

/// What `read` refuses with; empty if it does not.
template <class Read> std::string refusal(Read&& read) {
  try {
    (void)read();
  } catch (const input_error& problem) {
    return problem.what();
  }
  return {};
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

bool same(const weight_scheme& a, const weight_scheme& b) {
  return std::string(a.name) == b.name && a.payload == b.payload && a.every_element == b.every_element;
}

TEST_CASE("every format is found under its own name, in any spelling of it") {
  for (const number_format* format : formats::all) {
    CHECK(&number_format_named(format->name) == format);
    std::string upper;
    for (const char c : std::string(format->name))
      upper += c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    CHECK(&number_format_named(upper) == format);
  }
  for (const weight_scheme* scheme : schemes::all) CHECK(same(weight_scheme_named(scheme->name), *scheme));
  for (const kv_format* format : kv_formats::all) {
    CHECK(kv_format_named(format->name).bytes_per_token(8, 128, 128) == format->bytes_per_token(8, 128, 128));
    CHECK(std::string(kv_format_named(format->name).name) == format->name);
  }
  CHECK(kv_format_named("Q8-0").bytes_per_token(8, 128, 128) ==
        kv_format{formats::q8_0}.bytes_per_token(8, 128, 128));
}

TEST_CASE("no two names in one list mean the same thing once case and separators are gone") {
  std::set<std::string> keys;
  for (const number_format* format : formats::all) {
    const detail::name_key key = detail::key_of(format->name);
    CHECK(keys.insert(std::string(key.text, key.length)).second);
  }
  for (const auto& each : detail::number_format_synonyms) {
    const detail::name_key key = detail::key_of(each.name);
    CHECK(keys.insert(std::string(key.text, key.length)).second);
  }
}

TEST_CASE("synonyms") {
  CHECK(&number_format_named("float16") == &formats::fp16);
  CHECK(&number_format_named("half") == &formats::fp16);
  CHECK(&number_format_named("BFloat16") == &formats::bf16);
  CHECK(&number_format_named("f32") == &formats::fp32);
  CHECK(&number_format_named("fp8") == &formats::fp8_e4m3);
  CHECK(&number_format_named("e5m2") == &formats::fp8_e5m2);
  CHECK(number_format_named("auto").is_automatic());
  CHECK(weight_scheme_named("auto").is_automatic());
  CHECK(kv_format_named("auto").is_automatic());
  CHECK(same(weight_scheme_named("fp8"), weight_scheme{formats::fp8_e4m3}));
}

TEST_CASE("schemes win over number formats of the same name") {
  for (const char* name : {"nvfp4", "mxfp4", "mxfp8", "nf4", "awq", "gptq", "w4a16", "fp8_block"}) {
    INFO(name);
    CHECK_FALSE(weight_scheme_named(name).every_element);
  }
  CHECK(weight_scheme_named("int8").every_element);
  CHECK(kv_format_named("nvfp4").key.scales == scale_granularity::block);
}

TEST_CASE("keys and values apart") {
  const kv_format mixed = kv_format_named("fp16, int4");
  CHECK(mixed.bytes_per_token(8, 128, 128) == bytes{8 * 128 * 2 + 8 * 64});
  CHECK(kv_format_named("fp8").bytes_per_token(8, 128, 128) == bytes{2 * 8 * 128});
  CHECK(contains(refusal([] { return kv_format_named("auto,fp8"); }), "cannot be one side"));
  CHECK(contains(refusal([] { return kv_format_named("kivi2,fp8"); }), "cannot be one side"));
  CHECK(contains(refusal([] { return kv_format_named("fp8,fp8_ds_mla"); }), "cannot be one side"));
  CHECK(contains(refusal([] { return kv_format_named("fp8,fp8,fp8"); }), "more than two"));
  CHECK(contains(refusal([] { return kv_format_named("fp8,"); }), "unknown"));
}

TEST_CASE("unknown names come back in one line with what is near") {
  CHECK(refusal([] {
          return number_format_named("bf17");
        }).starts_with("number format \"bf17\" is unknown, did you mean bf16"));
  CHECK(contains(refusal([] { return weight_scheme_named("gtpq"); }), "did you mean gptq"));
  CHECK(contains(refusal([] { return kv_format_named("int8_per_token_hed"); }), "int8_per_token_head"));
  CHECK(contains(refusal([] { return weight_scheme_named("something else"); }), "expected a name like"));
  for (const char* hostile : {"", " ", "\n", "\x1b[31m", ",", ",,,,"}) {
    const std::string line = refusal([&] { return kv_format_named(hostile); });
    CHECK_FALSE(line.empty());
    CHECK(line.find('\n') == std::string::npos);
    CHECK(line.find('\x1b') == std::string::npos);
  }
  CHECK_FALSE(refusal([] { return number_format_named(std::string(100'000, 'f')); }).empty());
}

TEST_CASE("modules") {
  const module_set some = module_set_named("lm_head, embedding,experts,embed_tokens");
  CHECK(some ==
        module_set{}.with(module_role::lm_head).with(module_role::embedding).with(module_role::expert));
  for (std::size_t i = 0; i < module_role_count; ++i) {
    const auto role = static_cast<module_role>(i);
    CHECK(module_set_named(detail::short_name_of(role)) == module_set{}.with(role));
  }
  CHECK(contains(refusal([] { return module_set_named("lm_hed"); }), "did you mean lm_head"));
  CHECK(contains(refusal([] { return module_set_named("lm_head,"); }), "unknown"));
}

TEST_CASE("numbers of parameters are read as models are named by them") {
  CHECK(parse_parameters("8030261248") == parameters{8'030'261'248});
  CHECK(parse_parameters("8B") == parameters{8'000'000'000});
  CHECK(parse_parameters("1.5 b") == parameters{1'500'000'000});
  CHECK(parse_parameters("135M") == parameters{135'000'000});
  CHECK(parse_parameters("1.0325T") == parameters{1'032'500'000'000});
  CHECK(parse_parameters("0") == parameters{0});
  for (const char* text :
       {"", "B", "8GB", "8K", "-8B", "1e9", "8 BB", "0.0000000001B", "1.5", "9999999999999T"}) {
    INFO(text);
    CHECK(contains(refusal([&] { return parse_parameters(text); }), " is not a "));
  }
}

TEST_CASE("sizes are read to the byte") {
  CHECK(parse_bytes("0") == 0_B);
  CHECK(parse_bytes("16106127360") == 15_GiB);
  CHECK(parse_bytes("15GB") == 15_GB);
  CHECK(parse_bytes(" 15 GiB ") == 15_GiB);
  CHECK(parse_bytes("15gib") == 15_GiB);
  CHECK(parse_bytes("7.5GB") == 7500_MB);
  CHECK(parse_bytes("1.5GiB") == 1536_MiB);
  CHECK(parse_bytes("0.5KiB") == 512_B);
  CHECK(parse_bytes("512MiB") == 512_MiB);
  CHECK(parse_bytes("007B") == 7_B);
  CHECK(parse_bytes("9223372036854775807") == bytes{INT64_MAX});
  for (const char* bad : {"",
                          " ",
                          "-1",
                          "+1",
                          "1e9",
                          "0x10",
                          "15G",
                          "15Gb",
                          "15 gigs",
                          "1.5",
                          "0.1GiB",
                          ".5GB",
                          "5.GB",
                          "1.2.3GB",
                          "9223372036854775808",
                          "99999999999999999999",
                          "9999999999GB",
                          "1,000",
                          "0.00000000000000000000001GB",
                          "GB",
                          "1GB2"}) {
    INFO(bad);
    CHECK_FALSE(refusal([&] { return parse_bytes(bad); }).empty());
  }
}

TEST_CASE("counts and headroom") {
  CHECK(parse_count("32768", "tokens", 1, 1'000'000) == 32768);
  CHECK(contains(refusal([] { return parse_count("0", "tokens", 1, 9); }),
                 "whole number of tokens from 1 to 9"));
  for (const char* bad : {"", "-1", "1.0", "1k", "10", "18446744073709551617", "99999999999999999999999"}) {
    INFO(bad);
    CHECK_FALSE(refusal([&] { return parse_count(bad, "tokens", 1, 9); }).empty());
  }
  CHECK(parse_headroom("20%").of(1000_B) == 200_B);
  CHECK(parse_headroom("12.5%").of(1000_B) == 125_B);
  CHECK(parse_headroom("2GiB").of(1000_B) == 2_GiB);
  CHECK(parse_headroom("0%").of(1000_B) == 0_B);
  for (const char* bad : {"100%", "-1%", "%", "20%%", "20 %x", ""}) {
    INFO(bad);
    CHECK_FALSE(refusal([&] { return parse_headroom(bad); }).empty());
  }
}

}  // namespace
