// What reports print: sizes to the digit, tables with straight edges, CSV and Markdown that nothing breaks
// out of, SVG that is well formed and whose labels keep their distance.
#include "kvbudget/report/format.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kvbudget/kvbudget.hpp"
#include "kvbudget/report/csv.hpp"
#include "kvbudget/report/markdown.hpp"
#include "kvbudget/report/svg.hpp"
#include "kvbudget/report/table.hpp"
#include "support/catch.hpp"

namespace {

using namespace kvbudget;
using namespace kvbudget::literals;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (true) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

bool has_line_with(const std::string& text, std::string_view first, std::string_view second) {
  for (const std::string& line : lines_of(text)) {
    if (contains(line, first) && contains(line, second)) return true;
  }
  return false;
}

/// The ledger of the article that asks why 70B parameters need 144 GB, `parts` GPUs sharing it.
memory_budget article(std::uint64_t weight_parts = 1, std::uint64_t other_parts = 1) {
  memory_budget budget;
  budget.add({"weights", 70_GB / weight_parts, "70e9 parameters x 1 byte"});
  budget.add({"kv_cache", 42'949'672'960_B / weight_parts, "2 x 80 x 8192 x 32768 x 1 byte"});
  const auto about = [other_parts](const char* name, bytes figure) {
    return line_item{name,           figure / other_parts,    figure / other_parts, figure / other_parts,
                     basis::assumed, "the article, \"about\""};
  };
  budget.add(about("activations", 15_GB));
  budget.add(about("framework", 10_GB));
  budget.add(about("margin", 6_GB));
  return budget;
}

static constexpr auto llama_70b = decoder<hidden<8192>, vocabulary<128256>,
                                          repeat<80, block<gqa<64, 8, 128>, gated_mlp<28672>>>>::architecture;

deployment serving(std::uint32_t pipeline = 1) {
  deployment d{.model = llama_70b,
               .weights = formats::fp8_e4m3,
               .kv_cache = formats::fp8_e4m3,
               .workload = {.sequences = 1, .context = 32768_tokens, .batched_tokens = 2048_tokens},
               .parallel = {.tensor = 2, .pipeline = pipeline}};
  d.dtype = formats::bf16;
  d.framework.kind = framework_kind::pytorch_cuda;
  return d;
}

/// Everything a user may add that could break a report.
memory_budget hostile() {
  memory_budget budget;
  budget.add({"weights", 20_GB, "<script>alert(\"&\")</script>, 'quoted' | piped"});
  budget.add({"weights.a part with a very long name that goes on and on, longer than any column", 19_GB, ""});
  budget.add({"lora", 1_GB, "line one\nline two\x1b[31m"});
  budget.add({"name, with \"commas\" & <angles>", 3_GB, "x"});
  budget.add({"权重缓存", 2_GB, "wide characters"});
  budget.add({"broken \xff\xc0 utf-8", 1_B, "tiny"});
  budget.add({"weights.added.later", 5_MB, "a part that comes late"});
  budget.add({"nobody.knows", 4_GB, "a part without its whole"});
  budget.add({"zero", 0_B, "nothing"});
  budget.add({"| * _x_ `y` [z](w)", 1_GB, 2_GB, 3_GB, basis::calibrated, "# $1 ~ \\"});
  return budget;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const detail::character c = detail::first_character(text);
    if (!c.valid && text[0] != '\n' && text[0] != '?') return false;
    text.remove_prefix(c.length);
  }
  return true;
}

void check_straight_edges(const std::string& table) {
  CAPTURE(table);
  std::size_t width = 0;
  for (const std::string& line : lines_of(table)) {
    if (line.empty()) continue;  // between frames
    if (width == 0) width = detail::display_width(line);
    CHECK(detail::display_width(line) == width);
  }
  CHECK(width > 0);
  CHECK(is_utf8(table));
}

std::string without_colors(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    if (text[0] == '\x1b') {
      text.remove_prefix(text.find('m') + 1);
    } else {
      plain += text[0];
      text.remove_prefix(1);
    }
  }
  return plain;
}

/// Reads CSV by RFC 4180; fields of a row, rows of a file.
std::vector<std::vector<std::string>> parse_csv(std::string_view text) {
  std::vector<std::vector<std::string>> rows{{""}};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      rows.back().back() += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      rows.back().emplace_back();
    } else if (!quoted && c == '\n') {
      rows.push_back({""});
    } else {
      rows.back().back() += c;
    }
  }
  CHECK_FALSE(quoted);
  return rows;
}

/// Whether a document is well formed as far as this writer could break it: balanced tags, attributes in
/// quotes, every `&` an entity, no stray `<` or `>`.
std::string xml_problem(std::string_view text) {
  std::vector<std::string> open;
  std::size_t roots = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '&') {
      bool known = false;
      for (const std::string_view entity : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"}) {
        known = known || text.substr(i).starts_with(entity);
      }
      if (!known) return "a bare & at " + std::string(text.substr(i, 30));
      ++i;
    } else if (text[i] == '>') {
      return "a bare > at " + std::string(text.substr(i, 30));
    } else if (text[i] == '<') {
      bool quoted = false;
      std::size_t end = i + 1;
      for (; end < text.size() && (quoted || text[end] != '>'); ++end) {
        if (text[end] == '"') quoted = !quoted;
        if (text[end] == '<') return "a < in a tag at " + std::string(text.substr(i, 60));
      }
      if (end == text.size()) return "a tag without an end";
      const std::string_view tag = text.substr(i + 1, end - i - 1);
      const std::string name(tag.substr(tag.starts_with('/') ? 1 : 0, tag.find_first_of(" /", 1) - 0));
      if (tag.starts_with('/')) {
        if (open.empty() || open.back() != tag.substr(1)) return "unbalanced </" + name;
        open.pop_back();
      } else {
        if (open.empty()) ++roots;
        if (!tag.ends_with('/')) open.emplace_back(tag.substr(0, tag.find(' ')));
      }
      i = end + 1;
    } else {
      if (open.empty() && text[i] != '\n') return "text outside the root";
      ++i;
    }
  }
  if (!open.empty()) return "not closed: " + open.back();
  return roots == 1 ? "" : "not one root";
}

struct drawn_text {
  double left, right, y;
  std::string content;
};

/// The texts of a chart with an estimate of where they are.
std::vector<drawn_text> texts_of(std::string_view svg) {
  std::vector<drawn_text> result;
  const auto attribute = [](std::string_view tag, std::string_view name) {
    const std::string start = ' ' + std::string(name) + "=\"";
    const std::size_t at = tag.find(start);
    if (at == std::string_view::npos) return std::string();
    const std::string_view rest = tag.substr(at + start.size());
    return std::string(rest.substr(0, rest.find('"')));
  };
  for (std::size_t at = svg.find("<text "); at != std::string_view::npos; at = svg.find("<text ", at + 1)) {
    const std::string_view element = svg.substr(at, svg.find("</text>", at) - at);
    const std::string_view tag = element.substr(0, element.find('>'));
    std::string content;
    bool inside = false;
    for (const char c : element.substr(tag.size() + 1)) {
      if (c == '<' || c == '>') {
        inside = c == '<';
      } else if (!inside) {
        content += c;
      }
    }
    for (const auto& [entity, plain] : {std::pair<std::string, std::string>{"&lt;", "<"},
                                        {"&gt;", ">"},
                                        {"&quot;", "\""},
                                        {"&#39;", "'"},
                                        {"&amp;", "&"}}) {
      for (std::size_t i = content.find(entity); i != std::string::npos; i = content.find(entity, i + 1)) {
        content.replace(i, entity.size(), plain);
      }
    }
    const std::string style = attribute(tag, "class");
    const int size = contains(style, "title")     ? 20
                     : contains(style, "heading") ? 17
                     : contains(style, "label")   ? 15
                     : contains(style, "small")   ? 12
                                                  : 13;
    const bool bold = size >= 15;
    const double width = static_cast<double>(detail::svg_text_width(content, size * 100, bold)) / 100;
    const double x = std::stod(attribute(tag, "x"));
    const std::string anchor = attribute(tag, "text-anchor");
    const double left = anchor == "end" ? x - width : anchor == "middle" ? x - width / 2 : x;
    result.push_back({left, left + width, std::stod(attribute(tag, "y")), content});
  }
  return result;
}

void check_chart(const std::string& svg, double width) {
  CAPTURE(svg);
  CHECK(xml_problem(svg) == "");
  CHECK(is_utf8(svg));
  CHECK_FALSE(contains(svg, "nan"));
  const std::vector<drawn_text> texts = texts_of(svg);
  CHECK_FALSE(texts.empty());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    CAPTURE(texts[i].content);
    CHECK(texts[i].left >= 0);
    CHECK(texts[i].right <= width + 1);
    for (std::size_t j = 0; j < i; ++j) {
      CAPTURE(texts[j].content);
      const bool beside = texts[i].right <= texts[j].left || texts[j].right <= texts[i].left;
      CHECK((beside || std::abs(texts[i].y - texts[j].y) >= 11));
    }
  }
}

}  // namespace

TEST_CASE("sizes name their unit and are right to the digit", "[report]") {
  const bytes h100{85'520'809'984};
  CHECK(fmt::format("{}", h100) == "85.52 GB (79.65 GiB)");
  CHECK(fmt::format("{:.1}", h100) == "85.5 GB (79.6 GiB)");
  CHECK(fmt::format("{:GB}", h100) == "85.52 GB");
  CHECK(fmt::format("{:GiB}", h100) == "79.65 GiB");
  CHECK(fmt::format("{:.0MiB}", h100) == "81,559 MiB");
  CHECK(fmt::format("{:.1MB}", h100) == "85,520.8 MB");
  CHECK(fmt::format("{:KiB}", 1536_B) == "1.50 KiB");
  CHECK(fmt::format("{:TB}", 1'374'400_MB) == "1.37 TB");
  CHECK(fmt::format("{:B}", h100) == "85,520,809,984 B");
  CHECK(fmt::format("{:d}", h100) == "85520809984");
  CHECK(fmt::format("[{:>12GB}] [{:<12GB}] [{:*^12GB}] [{:12GB}]", h100, h100, h100, h100) ==
        "[    85.52 GB] [85.52 GB    ] [**85.52 GB**] [    85.52 GB]");
  CHECK(fmt::format("{}", 0_B) == "0 B");
  CHECK(fmt::format("{}", 999_B) == "999 B");
  CHECK(fmt::format("{}", 1000_B) == "1.00 KB (0.98 KiB)");
  CHECK(fmt::format("{}", 999'994'999_B) == "999.99 MB (953.67 MiB)");
  CHECK(fmt::format("{}", 999'999'999_B) == "1.00 GB (0.93 GiB)");
  CHECK(fmt::format("{:.18GB}", 1_B) == "0.000000001000000000 GB");

  SECTION("halves are rounded away from zero") {
    CHECK(fmt::format("{:.1GB}", 50_MB) == "0.1 GB");
    CHECK(fmt::format("{:.1GB}", bytes{49'999'999}) == "0.0 GB");
    CHECK(fmt::format("{:GB}", bytes{1'005'000'000}) == "1.01 GB");
    CHECK(fmt::format("{:.0GB}", bytes{999'500'000'000}) == "1000 GB");
    CHECK(fmt::format("{:GB}", bytes{9'999'995'000'000}) == "10,000.00 GB");
  }
  SECTION("the largest numbers there are") {
    CHECK(fmt::format("{}", bytes{std::uint64_t{1} << 63}) == "9,223,372,036.85 GB (8,589,934,592.00 GiB)");
    CHECK(fmt::format("{:TiB}", bytes{UINT64_MAX}) == "16,777,216.00 TiB");
    CHECK(fmt::format("{:B}", bytes{UINT64_MAX}) == "18,446,744,073,709,551,615 B");
  }
}

TEST_CASE("the figures of the 144 GB article", "[report]") {
  const memory_budget all = article();
  CHECK(fmt::format("{:.0GB} + {:.1GB} + {:.0GB} + {:.0GB} + {:.0GB} = {:.1GB}", all.weights(),
                    all.kv_cache(), all.activations(), all.framework(), all.margin(),
                    all.total()) == "70 GB + 42.9 GB + 15 GB + 10 GB + 6 GB = 143.9 GB");
  CHECK(fmt::format("{:GB}", article(2, 2).total()) == "71.97 GB");
  CHECK(fmt::format("{:GB}", article(2, 1).total()) == "87.47 GB");
  const char* const table[4][4] = {{"10.7", "42.9", "85.9", "171.8"},
                                   {"21.5", "85.9", "171.8", "343.6"},
                                   {"42.9", "171.8", "343.6", "687.2"},
                                   {"85.9", "343.6", "687.2", "1374.4"}};
  for (std::uint64_t i = 0; i < 4; ++i) {
    for (std::uint64_t j = 0; j < 4; ++j) {
      constexpr std::uint64_t batch[] = {1, 4, 8, 16};
      const bytes cache{2ull * 80 * 8192 * 2 * (4096ull << i) * batch[j]};
      CHECK(fmt::format("{:.1GB}", cache) == std::string(table[i][j]) + " GB");
    }
  }
}

TEST_CASE("the other quantities", "[report]") {
  CHECK(fmt::format("{}", signed_bytes{13'050'000'000}) == "+13.05 GB (+12.15 GiB)");
  CHECK(fmt::format("{:GB}", signed_bytes{-2'445'221'437}) == "-2.45 GB");
  CHECK(fmt::format("{}", signed_bytes{0}) == "0 B");
  CHECK(fmt::format("{:B}", signed_bytes{INT64_MIN}) == "-9,223,372,036,854,775,808 B");
  CHECK(fmt::format("{:d}", signed_bytes{-5}) == "-5");

  CHECK(fmt::format("{} {} {:d}", 32768_tokens, 1_tokens, 32768_tokens) == "32,768 tokens 1 token 32768");
  CHECK(fmt::format("[{:>14}] [{:-<8d}]", 512_tokens, 512_tokens) == "[    512 tokens] [512-----]");

  CHECK(fmt::format("{}", ratio{327'680}) == "327,680");
  CHECK(fmt::format("{}", ratio{1, 4}) == "0.25");
  CHECK(fmt::format("{} {:.1} {:.0}", ratio{81'920, 3}, ratio{81'920, 3}, ratio{81'920, 3}) ==
        "27,306.667 27,306.7 27,307");
  CHECK(fmt::format("{}", ratio{1, 7'000'000}) == "1/7000000");
  CHECK(fmt::format("{:%} {:.1%} {:%}", 20_percent, ratio{1, 3}, ratio{1, 8}) == "20% 33.3% 12.5%");
  CHECK(fmt::format("{:.2}", ratio{UINT64_MAX - 1, UINT64_MAX}) == "1.00");

  CHECK(fmt::format("[{}] [{:>12}]", basis::exact, basis::calibrated) == "[exact] [  calibrated]");
  CHECK(fmt::format("{}", line_item{"weights", 70_GB, ""}) == "weights: 70.00 GB (65.19 GiB), exact");
  CHECK(fmt::format("{:.0GB}", line_item{"activations", 12_GB, 15_GB, 18_GB, basis::assumed, ""}) ==
        "activations: 15 GB, 12 to 18 GB, assumed");
}

TEST_CASE("a verdict in words", "[report]") {
  const gpu_profile& h100 = gpus::nvidia_h100_sxm_80gb;
  CHECK(fmt::format("{:GB}", check_fit(article(2, 2), h100)) == "surely fits: 13.05 GB left");
  CHECK(fmt::format("{:GB}", check_fit(article(2, 1), h100)) == "never fits: 2.45 GB missing");
  CHECK(fmt::format("{:GB}", check_fit(article(2, 2), h100, headroom{20_percent})) ==
        "never fits: 3.95 GB missing with the headroom asked for");
  CHECK(fmt::format("{:GB}", check_fit(article(2, 2), h100, headroom{2_GB})) ==
        "surely fits: 11.05 GB left beside the headroom asked for");
  const auto around = [&](bytes low, bytes high) {
    memory_budget budget;
    budget.add({"weights", low, 80_GB, high, basis::assumed, ""});
    return check_fit(budget, h100);
  };
  CHECK(fmt::format("{:GB}", around(79_GB, 90_GB)) == "fits: 5.03 GB left");
  memory_budget over;
  over.add({"weights", 80_GB, 90_GB, 90_GB, basis::assumed, ""});
  CHECK(fmt::format("{:GB}", check_fit(over, h100)) == "does not fit: 4.97 GB missing");
  const report::gpu_view gpu(h100);
  const std::string text = report::markdown(over, {.gpu = gpu});
  CHECK(contains(text, "With the lowest need and the highest usable memory it would fit."));
}

TEST_CASE("wrong formats are refused", "[report]") {  // at compile time, where the format is a literal
  const auto refused = [](const char* format, const auto& value) {
    CAPTURE(format);
    CHECK_THROWS_AS(fmt::format(fmt::runtime(format), value), fmt::format_error);
  };
  for (const char* format : {"{:gb}", "{:GBB}", "{:Gb}", "{:x}", "{:.GB}", "{:.2B}", "{:.2d}", "{:GB }",
                             "{:99999GB}", "{:.19GB}", "{: GB}", "{:+GB}"}) {
    refused(format, 1_GB);
    refused(format, signed_bytes{1});
    refused(format, line_item{"x", 1_GB, ""});
  }
  for (const char* format : {"{:GB}", "{:.1}", "{:x}", "{:dd}"}) refused(format, 1_tokens);
  for (const char* format : {"{:GB}", "{:d}", "{:%%}"}) refused(format, 20_percent);
  refused("{:d}", basis::exact);
}

TEST_CASE("display width", "[report]") {
  CHECK(detail::display_width("kv_cache") == 8);
  CHECK(detail::display_width("权重") == 4);
  CHECK(detail::display_width("e\u0301") == 1);
  CHECK(detail::display_width("█▏─│…–✓") == 7);
  CHECK(detail::display_width("\xff\xfe") == 2);
  CHECK(detail::one_line("a\x1b[31m\n\u202Eb\xff") == "a?[31m ?b?");
  CHECK(detail::one_line("\xed\xa0\x80") == "???");  // half a surrogate pair
  CHECK(detail::one_line("\xf4\x90\x80\x80") == "????");
  CHECK(detail::shortened("权重缓存", 5, "…") == "权重…");
  CHECK(detail::shortened("weights", 7, "…") == "weights");
  CHECK(detail::wrapped("one two  three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(detail::wrapped("abcdefgh", 3) == std::vector<std::string>{"abc", "def", "gh"});
}

TEST_CASE("a table says what a ledger holds", "[report]") {
  const std::string table = report::table(article());
  check_straight_edges(table);
  CHECK(has_line_with(table, "weights", "70.00   48.6 %"));
  CHECK(has_line_with(table, "kv_cache", "42.95   29.8 %"));
  CHECK(has_line_with(table, "activations", "15.00   10.4 %"));
  CHECK(has_line_with(table, "total", "143.95  100.0 %"));
  CHECK(has_line_with(table, "total", "assumed"));
  CHECK(has_line_with(table, "item", "GB"));
  CHECK(contains(table, "[1] 70e9 parameters x 1 byte"));
  CHECK(count_of(table, "[3]") == 4);  // three lines share a source, which is printed once
  CHECK_FALSE(contains(table, "low"));
  CHECK_FALSE(table.ends_with('\n'));
  CHECK(has_line_with(report::table(article(), {.unit = byte_unit::GiB, .precision = 1}), "weights", "65.2"));
  CHECK_FALSE(contains(report::table(article(), {.sources = false}), "note"));
}

TEST_CASE("a table against a GPU", "[report]") {
  const report::gpu_view h200(gpus::nvidia_h200_sxm_141gb);
  const report::gpu_view h200_with_headroom(gpus::nvidia_h200_sxm_141gb, headroom{20_percent});
  const std::string fits = report::table(article(), {.gpu = h200});
  check_straight_edges(fits);
  CHECK(has_line_with(fits, "reported by the driver", "150.75"));
  CHECK(has_line_with(fits, "usable", "150.11  100.0 %"));
  CHECK(has_line_with(fits, "needed", "143.95   95.9 %"));
  CHECK(has_line_with(fits, "left", "6.16    4.1 %"));
  CHECK(contains(fits, "✓ surely fits: 6.16 GB (5.74 GiB) left."));
  CHECK_FALSE(contains(fits, "headroom"));

  const std::string missing = report::table(article(), {.gpu = h200_with_headroom});
  check_straight_edges(missing);
  CHECK(has_line_with(missing, "headroom asked for", "30.02   20.0 %"));
  CHECK(has_line_with(missing, "missing", "23.86   15.9 %"));
  CHECK(contains(missing, "✗ never fits: 23.86 GB (22.22 GiB) missing with the headroom asked for"));

  const report::gpu_view half(gpus::nvidia_h200_sxm_141gb, usable_memory{1_GB, 1_GB, 1_GB, basis::exact});
  check_straight_edges(report::table(article(), {.gpu = half}));
}

TEST_CASE("tables of anything keep straight edges", "[report]") {
  memory_budget huge;
  huge.add({"weights", bytes{std::uint64_t{1} << 63}, "2^63"});
  huge.add({"kv_cache", 1_B, "one byte"});
  memory_budget full;
  for (std::size_t i = 0; i < max_line_items; ++i) full.add({"same name", bytes{i}, "counted"});
  const memory_budget budgets[] = {memory_budget{}, article(), hostile(), huge, full, estimate(serving())};
  const report::gpu_view gpu(gpus::nvidia_rtx_a6000_48gb, headroom{20_percent});
  for (const memory_budget& budget : budgets) {
    for (const bool with_gpu : {false, true}) {
      for (const std::size_t bar_width : {std::size_t{0}, std::size_t{1}, std::size_t{20}}) {
        report::table_options options{.title = "标题 & a title that is much longer than the table below it",
                                      .engine = "geometry",
                                      .bar_width = bar_width};
        if (with_gpu) options.gpu = gpu;
        const std::string table = report::table(budget, options);
        check_straight_edges(table);
        options.color = true;
        CHECK(without_colors(report::table(budget, options)) == table);
        options.color = false;
        options.ascii = true;
        const std::string ascii = report::table(budget, options);
        check_straight_edges(ascii);
        CHECK(std::all_of(ascii.begin(), ascii.end(),
                          [](char c) { return (c >= ' ' && c <= '~') || c == '\n'; }));
      }
    }
  }
  CHECK(contains(report::table(memory_budget{}), "Nothing is in this ledger."));
  CHECK(has_line_with(report::table(huge), "weights", "9,223,372,036.85  100.0 %"));
  CHECK(has_line_with(report::table(huge), "kv_cache", "<0.01   <0.1 %"));
}

TEST_CASE("parts stand below their whole, wherever they were added", "[report]") {
  const std::string table = report::table(hostile());
  const std::size_t late = table.find("├ added.later") == std::string::npos ? table.find("└ added.later")
                                                                            : table.find("├ added.later");
  CHECK(late < table.find("lora"));
  CHECK(contains(table, "nobody.knows (not in the total)"));
  CHECK(has_line_with(table, "total", "28.00"));  // 20 + 1 + 3 + 2 + 2 GB and one byte
  memory_budget deep;
  deep.add({"a", 3_GB, ""});
  deep.add({"a.b", 2_GB, ""});
  deep.add({"a.b.c", 1_GB, ""});
  deep.add({"a.d", 1_GB, ""});
  const std::string tree = report::table(deep);
  CHECK(contains(tree, "│ ├ b "));
  CHECK(contains(tree, "│ │ └ c "));
  CHECK(contains(tree, "│ └ d "));
  CHECK_FALSE(contains(report::table(deep, {.parts = false}), "└"));
}

TEST_CASE("the table of a cluster", "[report]") {
  const cluster_budget cluster = estimate_cluster(serving(3));
  REQUIRE(cluster.kind_count == 3);
  const report::gpu_view gpu(gpus::nvidia_h100_sxm_80gb);
  const std::string table = report::table(cluster, {.title = "Llama", .engine = "geometry", .gpu = gpu});
  check_straight_edges(table);
  CHECK(count_of(table, "╭") == 4);  // three kinds of rank, and the sums
  CHECK(contains(table, "Llama · 2 ranks like stage 0, replica 0 (the worst)"));
  CHECK(contains(table, "Llama · all 6 ranks together"));
  CHECK(contains(table, "Every rank fits its GPU."));
  CHECK(contains(table, fmt::format("{:GB}", cluster.total()).substr(0, 5)));
  CHECK(count_of(table, "elements of every tensor x bytes of its format") == 1);
  const report::gpu_view small(gpus::nvidia_h100_sxm_80gb, usable_memory{14_GB, 14_GB, 14_GB, basis::exact});
  CHECK(contains(report::table(cluster, {.gpu = small}), "6 of 6 ranks do not fit their GPU."));
  check_straight_edges(report::table(cluster_budget{}));
}

TEST_CASE("CSV that reads back", "[report]") {
  const memory_budget budget = hostile();
  const auto rows = parse_csv(report::csv(budget));
  REQUIRE(rows.size() == budget.count + 1);
  CHECK(rows[0] == std::vector<std::string>{"item", "part_of", "bytes", "low", "high", "basis", "source"});
  for (const auto& row : rows) CHECK(row.size() == 7);
  bytes sum{};
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const line_item* line = budget.find(rows[i][0].c_str());
    REQUIRE(line != nullptr);
    CHECK(rows[i][2] == std::to_string(line->expected.value));
    CHECK(rows[i][3] == std::to_string(line->low.value));
    CHECK(rows[i][4] == std::to_string(line->high.value));
    CHECK(rows[i][5] == name_of(line->known));
    CHECK(rows[i][6] == line->source);
    if (rows[i][1].empty() && !contains(rows[i][0], ".")) sum += line->expected;
  }
  CHECK(sum == budget.total());
  CHECK(contains(report::csv(budget), "\"name, with \"\"commas\"\" & <angles>\",,3000000000,"));
  CHECK(contains(report::csv(budget), "\nweights.added.later,weights,5000000,"));
  CHECK(report::csv(memory_budget{}) == "item,part_of,bytes,low,high,basis,source");

  const cluster_budget cluster = estimate_cluster(serving(3));
  const auto ranks = parse_csv(report::csv(cluster));
  std::size_t lines = 1;
  for (std::uint32_t i = 0; i < cluster.kind_count; ++i) lines += cluster.kinds[i].budget.count;
  REQUIRE(ranks.size() == lines);
  for (const auto& row : ranks) CHECK(row.size() == 11);
  CHECK(ranks[1] == std::vector<std::string>{"0", "2", "0", "0", "weights", "",
                                             std::to_string(cluster.worst().weights().value),
                                             std::to_string(cluster.worst().weights().value),
                                             std::to_string(cluster.worst().weights().value), "exact",
                                             cluster.worst().find("weights")->source});
}

TEST_CASE("Markdown shows every text as it is", "[report]") {
  const report::gpu_view gpu(gpus::nvidia_h200_sxm_141gb, headroom{20_percent});
  const std::string text = report::markdown(article(), {.title = "144 GB", .engine = "geometry", .gpu = gpu});
  CHECK(text.starts_with("### 144 GB (geometry)\n\n| item | GB | share | basis | source |\n"));
  CHECK(contains(text, "| **kv_cache** | 42.95 | 29.8 % | exact | 2 x 80 x 8192 x 32768 x 1 byte |"));
  CHECK(contains(text, "| **total** | **143.95** | 100.0 % | assumed |  |"));
  CHECK(contains(text, "| headroom asked for | 30.02 | 20.0 % |  |  |"));
  CHECK(contains(text, "**never fits: 23.86 GB (22.22 GiB) missing"));
  CHECK_FALSE(text.ends_with('\n'));

  CHECK(detail::markdown_text("a|b") == "a\\|b");
  CHECK(detail::markdown_text("<b> & \\ `c` *d* [e](f)\n#1") ==
        "&lt;b&gt; &amp; \\\\ \\`c\\` \\*d\\* \\[e\\](f) \\#1");
  CHECK(detail::markdown_text("kv_cache _x_") == "kv_cache \\_x\\_");
  for (const std::string& line : lines_of(report::markdown(hostile()))) {
    CAPTURE(line);
    CHECK(count_of(line, "|") - count_of(line, "\\|") == 7);  // six columns, whatever is in them
  }
  const std::string cluster = report::markdown(estimate_cluster(serving(3)), {.title = "Llama"});
  CHECK(count_of(cluster, "\n#### ") == 4);
  CHECK(contains(cluster, "#### all 6 ranks together"));
}

TEST_CASE("SVG is well formed and its labels keep their distance", "[report]") {
  memory_budget huge;
  huge.add({"weights", bytes{std::uint64_t{1} << 63}, "2^63"});
  memory_budget largest;
  largest.add({"weights", bytes{UINT64_MAX}, "2^64 - 1"});
  memory_budget many;
  for (std::size_t i = 0; i < max_line_items; ++i) many.add({"same name", bytes{i * detail::gb}, "counted"});
  memory_budget thin;
  thin.add({"weights", 1_B, "one byte"});
  const report::gpu_view h100(gpus::nvidia_h100_sxm_80gb);
  const report::gpu_view asked(gpus::nvidia_h100_sxm_80gb, headroom{20_percent});
  report::gpu_view nasty(gpus::nvidia_rtx_a6000_48gb, headroom{1_GB});
  nasty.name = "GPU <&\"'> with a name that is longer than a line of the chart has room for, and then some";

  for (const std::uint32_t width : {480u, 960u, 1600u}) {
    const report::svg_options options{
        .title = "A <title> & more of it than fits into one line of the chart, or two",
        .engine = "engine <&> 1.0",
        .width = width};
    check_chart(report::svg(std::vector<report::named_budget>{{"spread evenly", article(2, 2), h100},
                                                              {"repeated on each", article(2, 1), h100},
                                                              {"with headroom", article(2, 2), asked},
                                                              {"<&\"'> a label that goes on and on and on "
                                                               "until there is no room left for it at all",
                                                               hostile(), nasty},
                                                              {"nothing", memory_budget{}, h100},
                                                              {"without a GPU", article(), {}}},
                            options),
                width);
    check_chart(
        report::svg(std::vector<report::named_budget>{{"2^63", huge, h100}, {"", many, nasty}}, options),
        width);
  }
  check_chart(report::svg(largest), 960);
  check_chart(report::svg(largest, {.unit = byte_unit::B}), 960);
  check_chart(report::svg(thin, {.unit = byte_unit::TiB, .gpu = h100}), 960);
  check_chart(report::svg(memory_budget{}), 960);
  check_chart(report::svg(std::vector<report::named_budget>{}), 960);
  check_chart(report::svg(estimate_cluster(serving(3)), {.gpu = asked, .card = true}), 960);
}

TEST_CASE("a verdict says which lines are not counted", "[report]") {
  memory_budget budget;
  budget.add({"weights", 70_GB, ""});
  report::gpu_view gpu(gpus::nvidia_h200_sxm_141gb);
  const std::string both = "not counted: activations, framework.";
  CHECK(contains(report::table(budget, {.gpu = gpu}), both));
  CHECK(contains(report::table(budget, {.gpu = gpu, .ascii = true}), "| " + both));
  CHECK(contains(report::markdown(budget, {.gpu = gpu}), "\n\n" + both));
  CHECK(contains(report::svg(budget, {.gpu = gpu}), '>' + both + '<'));
  check_straight_edges(report::table(budget, {.gpu = gpu}));
  CHECK_FALSE(contains(report::table(budget), "not counted"));
  CHECK_FALSE(contains(report::markdown(budget), "not counted"));
  gpu.activations_hint = "ask";
  CHECK(contains(report::table(budget, {.gpu = gpu}), "not counted: activations (ask), framework."));
  budget.add({"framework.context", 1_GB, "a part without its line"});
  budget.add({"activations", bytes{}, "none, but counted"});
  CHECK(contains(report::table(budget, {.gpu = gpu}), "not counted: framework."));
  CHECK_FALSE(contains(report::table(article(), {.gpu = gpu}), "not counted"));
  CHECK_FALSE(contains(report::markdown(article(), {.gpu = gpu}), "not counted"));
  CHECK_FALSE(contains(report::svg(article(), {.gpu = gpu}), "not counted"));
  deployment bare = serving();
  bare.framework.kind = framework_kind::none;
  const std::string ranks = report::table(estimate_cluster(bare), {.gpu = gpu});
  CHECK(count_of(ranks, "not counted: framework.") == 2);  // below each rank and below all of them
}

TEST_CASE("an SVG title is never cut", "[report]") {
  const std::string middle = "llama-3.1-70b · weights fp8_e4m3 · cache fp8_e4m3 · 8 x 32,768 tokens";
  CHECK(contains(report::svg(article(), {.title = "144 GB"}), "kvb-ink kvb-title\">144 GB<"));
  CHECK(contains(report::svg(article(), {.title = middle, .engine = "geometry"}),
                 "kvb-ink kvb-heading\">" + middle + "<"));
  const std::string longer = report::svg(article(), {.title = middle + " · " + middle, .engine = "geometry"});
  CHECK(count_of(longer, "class=\"kvb-ink kvb-heading\"") == 2);
  CHECK_FALSE(contains(longer, "…"));
  check_chart(longer, 960);
}

TEST_CASE("SVG tells the same as the table", "[report]") {
  const std::string chart =
      report::svg(article(), {.title = "144 GB", .gpu = report::gpu_view(gpus::nvidia_h200_sxm_141gb)});
  CHECK(contains(chart, ">weights 70.00<"));
  CHECK(contains(chart, ">kv_cache 42.95<"));
  CHECK(contains(chart, "143.95 GB"));
  CHECK(contains(chart, "surely fits: 6.16\u00A0GB left."));
  CHECK(contains(chart, "150.11 GB usable, 150.75 GB reported by the driver"));
  CHECK(contains(chart, "the article, &quot;about&quot;"));
  CHECK(contains(chart, "@media (prefers-color-scheme:dark)"));
  CHECK_FALSE(contains(chart, "kvb-missing)\" class"));
  CHECK(chart ==
        report::svg(article(), {.title = "144 GB", .gpu = report::gpu_view(gpus::nvidia_h200_sxm_141gb)}));
  const std::string missing =
      report::svg(article(), {.gpu = report::gpu_view(gpus::nvidia_h200_sxm_141gb, headroom{20_percent})});
  CHECK(contains(missing, "url(#kvb-missing)"));
  CHECK(contains(missing, "headroom asked for 30.02 GB"));
  const std::string odd = report::svg(hostile());
  CHECK(contains(odd, "&lt;script&gt;alert(&quot;&amp;&quot;)&lt;/script&gt;"));
  CHECK_FALSE(contains(odd, "<script"));
  CHECK_FALSE(contains(odd, "\x1b"));
}
