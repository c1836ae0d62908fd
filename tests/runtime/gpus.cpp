// The GPU files against the generated table, hostile files, and lookup as a command line uses it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "kvbudget/hardware/gpus.hpp"
#include "kvbudget/hardware/node.hpp"
#include "kvbudget/hardware/usable.hpp"
#include "kvbudget/io/gpu_json.hpp"
#include "kvbudget/io/lookup_text.hpp"
#include "kvbudget/lookup/gpu_lookup.hpp"
#include "support/catch.hpp"
#include "support/input.hpp"

namespace {

using namespace kvbudget;
using tests::contains;
using tests::message_of;
using tests::scratch;
namespace fs = std::filesystem;

const fs::path gpu_directory = fs::path(KVBUDGET_DATA_DIR) / "gpus";

const std::string good = R"({
  "schema": 1, "id": "acme-one-8gb", "name": "ACME One", "vendor": "nvidia", "aliases": ["one"],
  "memory": {
    "nominal_bytes": {"value": 8000000000, "source": "box"},
    "runtime_total_bytes": {"value": 8000000001, "rounding_bytes": 5, "source": "run", "inferred": true}
  },
  "compute": {"fp8": {"value": "native", "source": "manual"}}
})";

/// The message for the good text with one part replaced.
std::string refusal(const std::string& part, const std::string& by) {
  std::string text = good;
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  text.replace(at, part.size(), by);
  return message_of([&] {
    const json_document document = parse_json(text, "one.json");
    (void)parse_gpu_file(document.root, document.source);
  });
}

}  // namespace

TEST_CASE("every GPU file equals its line of the generated table", "[gpus]") {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(gpu_directory)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end(),
            [](const fs::path& a, const fs::path& b) { return a.stem() < b.stem(); });
  constexpr std::size_t in_table = sizeof(gpus::all) / sizeof(gpus::all[0]);
  REQUIRE(files.size() == in_table);

  std::size_t aliases = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    INFO(files[i].string());
    const gpu_file file = load_gpu_file(files[i]);
    const gpu_profile& a = file.profile;
    const gpu_profile& b = *gpus::all[i];
    CHECK(std::string(a.id) == files[i].stem().string());
    CHECK(std::string(a.id) == b.id);
    CHECK(std::string(a.name) == b.name);
    CHECK(a.vendor == b.vendor);
    CHECK(std::string(a.architecture) == b.architecture);
    CHECK(std::string(a.compute_capability) == b.compute_capability);
    CHECK(a.nominal_bytes == b.nominal_bytes);
    CHECK(a.driver_total_bytes == b.driver_total_bytes);
    CHECK(a.driver_total_ecc_off_bytes == b.driver_total_ecc_off_bytes);
    CHECK(a.driver_total_ecc_on_bytes == b.driver_total_ecc_on_bytes);
    CHECK(a.runtime_total_bytes == b.runtime_total_bytes);
    CHECK(a.runtime_total_rounding_bytes == b.runtime_total_rounding_bytes);
    CHECK(a.ram_bytes == b.ram_bytes);
    CHECK(a.bandwidth_bytes_per_second == b.bandwidth_bytes_per_second);
    CHECK(a.bf16_dense_flops == b.bf16_dense_flops);
    CHECK(a.fp8_dense_flops == b.fp8_dense_flops);
    CHECK(a.int8_dense_ops == b.int8_dense_ops);
    CHECK(a.fp4_dense_flops == b.fp4_dense_flops);
    CHECK(a.fp8 == b.fp8);
    CHECK(a.fp4 == b.fp4);
    CHECK(a.link_bytes_per_second == b.link_bytes_per_second);
    CHECK(a.pcie_generation == b.pcie_generation);
    CHECK(a.unified_memory == b.unified_memory);
    CHECK(a.working_set_assumed == b.working_set_assumed);
    CHECK(a == b);  // no member was forgotten above
    for (const std::string& alias : file.aliases) {
      INFO(alias);
      CHECK(find_gpu(alias.c_str()).gpu == &b);
      bool listed = false;
      for (const gpus::alias_entry& entry : gpus::aliases) {
        listed = listed || (alias == entry.alias && entry.gpu == &b);
      }
      CHECK(listed);
    }
    aliases += file.aliases.size();
  }
  CHECK(aliases == sizeof(gpus::aliases) / sizeof(gpus::aliases[0]));
}

TEST_CASE("every id, name and vendor-less id means its own GPU", "[gpus]") {
  for (const gpu_profile* gpu : gpus::all) {
    INFO(gpu->id);
    CHECK(find_gpu(gpu->id).gpu == gpu);
    CHECK(find_gpu(gpu->name).gpu == gpu);
    std::string spaced(gpu->id);
    spaced.erase(0, spaced.find('-') + 1);
    std::replace(spaced.begin(), spaced.end(), '-', ' ');
    std::transform(spaced.begin(), spaced.end(), spaced.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    CHECK(find_gpu(spaced.c_str()).gpu == gpu);
  }
}

TEST_CASE("a name without an answer is explained in one line", "[gpus]") {
  const auto told = [](const char* name) { return explain(find_gpu(name), name); };
  CHECK(told("h200") == "nvidia-h200-sxm-141gb");
  CHECK(told("H100") ==
        "GPU \"H100\" is ambiguous: nvidia-h100-nvl-94gb, nvidia-h100-pcie-80gb, nvidia-h100-sxm-80gb");
  CHECK(told("a100-80gb") == "GPU \"a100-80gb\" is ambiguous: nvidia-a100-pcie-80gb, nvidia-a100-sxm-80gb");
  CHECK_THAT(told("rtx"), Catch::Matchers::EndsWith("more"));
  CHECK_THAT(told("mi300"), Catch::Matchers::StartsWith("GPU \"mi300\" is unknown, did you mean amd-mi300"));
  CHECK(contains(told("h100-smx"), "nvidia-h100-sxm-80gb"));
  CHECK(told("") == "GPU \"\" is unknown");
  CHECK(told("two\nlines") == "GPU \"two?lines\" is unknown");
  const std::string endless(100'000, 'x');
  CHECK(explain(find_gpu(endless.c_str()), endless) == "GPU \"" + std::string(60, 'x') + "...\" is unknown");
  CHECK_THROWS_AS(gpu_named_or_explain("h100"), input_error);
  CHECK_THROWS_AS(gpu_named("h100"), error);
  CHECK_THROWS_AS(gpu_named("no such thing"), error);
  CHECK(&gpu_named_or_explain("H100 SXM 80GB") == &gpus::nvidia_h100_sxm_80gb);
}

TEST_CASE("a profile without a total is refused unless the marketed size is enough", "[gpus]") {
  CHECK_THROWS_WITH(usable(gpus::nvidia_a2_16gb),
                    "the marketed size alone (16000000000 bytes) is refused: measure the GPU or pass "
                    "nominal_is_enough");
  CHECK(usable(gpus::nvidia_a2_16gb, nominal_is_enough).known == basis::assumed);
  CHECK_THROWS_WITH(usable(gpu_profile{}), "the GPU profile gives no memory size");
  CHECK_THROWS_WITH(usable(gpu_profile{}, nominal_is_enough), "the GPU profile gives no memory size");
  CHECK_THROWS_AS(usable(gpu_profile{.driver_total_bytes = 1}), error);  // less than the driver's reserve
  CHECK_THROWS_WITH(usable(node{}), "a node needs a GPU profile");
  CHECK_THROWS_WITH(node_of(gpus::nvidia_t4_16gb, 0), "a node needs at least one GPU");
}

TEST_CASE("a GPU file is read", "[gpus]") {
  const scratch directory;
  const gpu_file file = load_gpu_file(directory.write("one.json", good));
  CHECK(std::string(file.profile.id) == "acme-one-8gb");
  CHECK(file.profile.runtime_total_bytes == 8'000'000'001);
  CHECK(file.profile.runtime_total_rounding_bytes == 5);
  CHECK(file.profile.fp8 == native_support::native);
  CHECK(file.profile.fp4 == native_support::unknown);
  CHECK(file.aliases == std::vector<std::string>{"one"});
  CHECK(load_gpu_profile(directory.path() / "one.json") == file.profile);
  CHECK(parse_gpu_profile(nlohmann::json::parse(good), "text") == file.profile);
}

TEST_CASE("a bad GPU file is refused with its name, the field and what was expected", "[gpus]") {
  using Catch::Matchers::StartsWith;
  const std::string value = "8000000000,";
  const std::string field = "one.json: memory.nominal_bytes.value: ";
  CHECK(refusal(value, "-1,") == field + "must not be negative");
  CHECK(refusal(value, "-9223372036854775808,") == field + "must not be negative");
  CHECK(refusal(value, "0,") == field + "must be above zero (leave out what is not known)");
  CHECK(refusal(value, "1.5,") == field + "must be a whole number, not a fractional one");
  CHECK(refusal(value, "8e9,") == field + "must be a whole number, not a fractional one");
  CHECK(refusal(value, "9223372036854775808,") == field + "must be below 2^63");
  CHECK(refusal(value, "18446744073709551616,") == field + "must be a whole number below 2^63");
  CHECK(refusal(value, "\"8 GB\",") == field + "must be a whole number, not text");
  CHECK(refusal(value, "\"NaN\",") == field + "must be a whole number, not text");
  CHECK(refusal(value, "null,") == field + "must be a whole number, not null");
  CHECK(refusal(value, "true,") == field + "must be a whole number, not true or false");
  CHECK(refusal(value, "[8],") == field + "must be a whole number, not an array");
  CHECK_THAT(refusal(value, "NaN,"), StartsWith("one.json: is not valid JSON: parse error at line "));
  CHECK_THAT(refusal(value, "1e999,"), StartsWith("one.json: is not valid JSON: "));

  CHECK(refusal(", \"source\": \"box\"", "") == "one.json: memory.nominal_bytes: key \"source\" is missing");
  CHECK(refusal("\"box\"", "\"\"") == "one.json: memory.nominal_bytes.source: must not be empty");
  CHECK(refusal("{\"value\": 8000000000, \"source\": \"box\"}", "8000000000") ==
        "one.json: memory.nominal_bytes: must be an object, not a number");
  CHECK(refusal("{\"value\": 8000000000, \"source\": \"box\"}", "null") ==
        "one.json: memory.nominal_bytes: must be an object, not null");
  CHECK_THAT(refusal("\"nominal_bytes\"", "\"nominal_byte\""),
             StartsWith("one.json: memory: unknown key \"nominal_byte\", expected one of nominal_bytes "));
  CHECK_THAT(refusal("\"vendor\"", "\"vendo\\nr\""),
             StartsWith("one.json: unknown key \"vendo?r\", expected one of schema id "));
  CHECK(refusal("\"schema\": 1", "\"schema\": 2") == "one.json: schema: must be 1");
  CHECK(refusal("\"schema\": 1, ", "") == "one.json: key \"schema\" is missing");
  CHECK(refusal("\"schema\": 1,", "\"schema\": 1, \"schema\": 1,") ==
        "one.json: key \"schema\" occurs twice");
  CHECK(refusal("acme-one-8gb", "ACME") ==
        "one.json: id: must be lower case words joined by '-', not \"ACME\"");
  CHECK(refusal("acme-one-8gb", "acme--one") ==
        "one.json: id: must be lower case words joined by '-', not \"acme--one\"");
  CHECK(refusal("acme-one-8gb", std::string(48, 'a')) ==
        "one.json: id: has 48 characters, at most 47 are kept");
  CHECK(refusal("ACME One", "") == "one.json: name: must not be empty");
  CHECK(refusal("ACME One", "A\\u0000B") == "one.json: name: must not hold control characters");
  CHECK(refusal("\"nvidia\"", "\"acme\"") ==
        "one.json: vendor: must be nvidia, amd, intel or apple, not \"acme\"");
  CHECK(
      refusal("\"native\"", "\"maybe\"") ==
      "one.json: compute.fp8.value: must be native or emulated (leave out what is not known), not \"maybe\"");
  CHECK(refusal("[\"one\"]", "[\"one\", 2]") == "one.json: aliases[1]: must be text, not a number");
  CHECK(refusal("[\"one\"]", "\"one\"") == "one.json: aliases: must be an array, not text");
  CHECK(refusal("\"rounding_bytes\": 5,", "\"rounding_bytes\": 9000000000,") ==
        "one.json: memory.runtime_total_bytes.rounding_bytes: is larger than the value");
  CHECK(refusal("\"memory\": {", "\"memory\": {\"working_set_assumed\": 1,") ==
        "one.json: memory.working_set_assumed: must be true or false, not a number");
  CHECK_THAT(refusal("\"box\"", "\"\xff\""), StartsWith("one.json: is not valid JSON: "));
  CHECK_THAT(refusal("\"box\"", "\"box"), StartsWith("one.json: is not valid JSON: "));
  CHECK(message_of([] { (void)parse_gpu_profile(nlohmann::json::array(), "list"); }) ==
        "list: must be an object, not an array");
}

TEST_CASE("files that are no JSON files are refused", "[gpus]") {
  using Catch::Matchers::EndsWith;
  const scratch directory;
  const auto told = [](const fs::path& path) { return message_of([&] { (void)load_gpu_profile(path); }); };
  CHECK_THAT(told(directory.path()), EndsWith(": is a directory, expected a file"));
  CHECK(contains(told(directory.path() / "none.json"), "none.json: "));
  CHECK_FALSE(contains(told(directory.path() / "none.json"), "nothing was refused"));
  CHECK_THAT(told(directory.write("empty.json", "")), EndsWith("empty.json: is empty"));
  CHECK(contains(told(directory.write("blank.json", "  \n")), "blank.json: is not valid JSON: "));
  CHECK(contains(told(directory.write("cut.json", good.substr(0, good.size() / 2))), "is not valid JSON"));
  CHECK(contains(told(directory.write("two.json", good + good)), "is not valid JSON"));
  CHECK_THAT(told(directory.write("big.json", std::string((1U << 20) + 1, ' '))),
             EndsWith("big.json: is larger than the 1048576 bytes that are accepted"));
  CHECK_THAT(told(directory.write("deep.json", std::string(100'000, '['))),
             EndsWith("deep.json: nests deeper than 8 levels"));
  CHECK_THAT(told(directory.write("text.json", "\"[[[[[[[[[[[[\"")),
             EndsWith(": must be an object, not text"));
#if defined(__unix__)
  CHECK_THAT(told("/dev/zero"), EndsWith("/dev/zero: is not a regular file"));
  const fs::path locked = directory.write("locked.json", good);
  fs::permissions(locked, fs::perms::none);
  if (!std::ifstream(locked)) {  // root reads everything
    CHECK_THAT(told(locked), EndsWith("locked.json: cannot be read"));
  }
#endif
  const std::string line = told(directory.write("bad\nname.json", "x"));
  CHECK(line.find('\n') == std::string::npos);
}

TEST_CASE("the JSON reader serves other readers", "[json]") {
  const json_document document =
      parse_json(R"({"a": null, "b": {"c": 2.5, "d": [1, {"e": true}]}})", "x", {.null_is_absent = true});
  const json_field root(document);
  CHECK_FALSE(root.find("a").has_value());
  CHECK_FALSE(root.optional_integer("a").has_value());
  CHECK(root.at("b").required_number("c") == 2.5);
  CHECK(root.at("b").at("d").size() == 2);
  CHECK(root.at("b").at("d").at(1).required_flag("e"));
  CHECK(message_of([&] { (void)root.at("b").at("d").at(1).required_text("e"); }) ==
        "x: b.d[1].e: must be text, not true or false");
  CHECK(message_of([&] { (void)root.at("b").at("d").at(2); }) == "x: b.d: has no element 2");
  CHECK(message_of([&] { (void)root.at("b").required_integer("c"); }) ==
        "x: b.c: must be a whole number, not a fractional one");
  CHECK(message_of([&] { (void)parse_json("[[[]]]", "deep", {.depth = 2}); }) ==
        "deep: nests deeper than 2 levels");
}
