#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvbudget/memory/memory_budget.hpp"
#include "kvbudget/plan/estimate.hpp"
#include "kvbudget/report/ledger.hpp"
#include "kvbudget/report/text.hpp"

namespace kvbudget::inline v0 {

namespace report {

/// One bar of a chart: a ledger under a name, and the GPU it is held against.
struct named_budget {
  std::string label{};
  memory_budget budget{};
  std::optional<gpu_view> gpu{};  ///< default: the chart's
};

/// What a chart shows and how.
struct svg_options {
  std::string title{};                    ///< the heading; without one the chart starts with its first bar
  std::string engine{};                   ///< behind the title: `engine.name().text`
  byte_unit unit = byte_unit::automatic;  ///< of sizes and axis; automatic: by the largest size
  int precision = 2;                      ///< decimals of sizes
  std::optional<report::gpu_view> gpu{};  ///< of every bar that names none itself
  std::uint32_t width = 960;              ///< pixels, at least 480
  bool card = false;  ///< a solid background of its own, for pages whose scheme is not the reader's
};

}  // namespace report

namespace detail {

/// Text inside XML, in element or attribute.
[[nodiscard]] inline std::string xml_text(std::string_view text) {
  std::string result;
  for (const char c : one_line(text)) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += c;
    }
  }
  return result;
}

/// Lengths in hundredths of a pixel: whole numbers, so that every machine writes the same file.
using svg_length = std::int64_t;
inline constexpr svg_length svg_pixel = 100;

[[nodiscard]] inline std::string svg_number(svg_length length) {
  std::string text = length < 0 ? "-" : "";
  const auto amount = static_cast<std::uint64_t>(length < 0 ? -length : length);
  text += std::to_string(amount / 100);
  const std::uint64_t rest = amount % 100;
  if (rest == 0) return text;
  text += '.';
  text += static_cast<char>('0' + rest / 10);
  if (rest % 10 != 0) text += static_cast<char>('0' + rest % 10);
  return text;
}

/// Upper estimate of a character's width in thousandths of the font size: DejaVu Sans, wider than most.
[[nodiscard]] constexpr svg_length svg_character_width(std::uint32_t code) {
  if (code == 0xA0 || code == 0xB7) return 340;  // no-break space, middle dot
  if (code >= 0x80) return columns_of(code) == 2 ? 1050 : columns_of(code) == 0 ? 0 : 860;
  const auto is_in = [code](std::string_view set) {
    return set.find(static_cast<char>(code)) != std::string_view::npos;
  };
  if (is_in(" .,:;|!'ijl")) return 340;
  if (is_in("ftrI()[]{}-/\\\"`")) return 470;
  if (is_in("cksvxyz_")) return 600;
  if (is_in("mMW@%")) return 1010;
  if (is_in("w+=<>#~^&")) return 860;
  return code >= 'A' && code <= 'Z' ? 790 : 640;
}

/// Upper estimate of how wide a text is.
[[nodiscard]] inline svg_length svg_text_width(std::string_view text, svg_length font_size, bool bold) {
  svg_length thousandths = 0;
  while (!text.empty()) {
    const character c = first_character(text);
    thousandths += svg_character_width(c.code);
    text.remove_prefix(c.length);
  }
  const svg_length width = thousandths * font_size / 1000;
  return bold ? width * 112 / 100 : width;
}

/// The text, cut with an ellipsis where it would be wider than `room`.
[[nodiscard]] inline std::string svg_shortened(std::string_view text, svg_length font_size, bool bold,
                                               svg_length room) {
  const std::string line = one_line(text);
  std::size_t columns = display_width(line);
  std::string result = line;
  while (columns > 1 && svg_text_width(result, font_size, bold) > room) {
    result = shortened(line, --columns, "…");
  }
  return result;
}

/// Draws a chart from top to bottom.
class svg_writer {
 public:
  explicit svg_writer(const report::svg_options& asked)
      : options_(asked), width_(svg_length{larger<std::uint32_t>(asked.width, 480)} * svg_pixel) {}

  [[nodiscard]] std::string draw(const std::vector<report::named_budget>& bars) {
    prepare(bars);
    draw_title();
    for (const bar& each : bars_) draw_bar(each);
    draw_axis();
    draw_key();
    return finish();
  }

 private:
  struct segment {
    ledger_row row{};
    std::vector<std::string> parts{};  ///< names and sizes, for the tooltip
    std::size_t colour = 0;
  };
  struct bar {
    std::string label{};
    ledger need{};
    std::vector<segment> segments{};
    std::optional<report::gpu_view> gpu{};
    verdict answer{};
    bytes wanted{};  ///< need and headroom asked for
  };
  struct swatch {
    const char* fill;
    bool dark_text;
  };

  static constexpr svg_length margin = 24 * svg_pixel;
  static constexpr svg_length bar_height = 38 * svg_pixel;
  static constexpr svg_length title_size = 20 * svg_pixel;
  static constexpr svg_length heading_size = 17 * svg_pixel;
  static constexpr svg_length label_size = 15 * svg_pixel;
  static constexpr svg_length text_size = 13 * svg_pixel;
  static constexpr svg_length small_size = 12 * svg_pixel;

  /// Okabe and Ito's palette, which stays apart under every common colour blindness; grey for the margin.
  static constexpr swatch palette[] = {{"#0072B2", false}, {"#E69F00", true}, {"#009E73", true},
                                       {"#CC79A7", true},  {"#8C959F", true}, {"#56B4E9", true},
                                       {"#D55E00", true},  {"#F0E442", true}};

  // --- what to draw --------------------------------------------------------------------------------------

  void prepare(const std::vector<report::named_budget>& bars) {
    bytes largest{};
    for (const report::named_budget& from : bars) {
      bar each;
      each.label = from.label;
      each.need = ledger_of(from.budget);
      each.gpu = from.gpu ? from.gpu : options_.gpu;
      each.wanted = each.need.expected;
      largest = larger(largest, each.need.high);
      if (each.gpu) {
        each.answer = verdict_of(from.budget, *each.gpu);
        each.wanted += each.answer.reserved;
        largest = larger(largest, larger(each.gpu->reported, each.gpu->available.expected));
        largest = larger(largest, each.wanted);
      }
      bars_.push_back(std::move(each));
    }
    unit_ = unit_for(options_.unit, largest, options_.precision);
    if (unit_ == byte_unit::B && largest.value > tb) unit_ = byte_unit::GB;  // the axis ends below 2^64
    choose_ticks(largest);
    for (bar& each : bars_) collect_segments(each);
  }

  void collect_segments(bar& into) {
    for (const ledger_row& row : rows_of(into.need)) {
      if (is_orphan(row)) continue;
      if (row.depth() == 0) {
        into.segments.push_back({row, {}, colour(row.item.name)});
      } else if (!into.segments.empty() && into.segments.back().row.family == row.family) {
        into.segments.back().parts.push_back(std::string(row.item.name) + ' ' + size(row.item.expected));
      }
    }
  }

  /// The five usual names keep their colours; further names take the others in turn, then all with stripes.
  [[nodiscard]] std::size_t colour(std::string_view name) {
    const std::size_t usual = colour_of(name, 0);
    if (usual < 5) return usual;
    for (std::size_t i = 0; i < others_.size(); ++i) {
      if (others_[i] == name) return 5 + i;
    }
    others_.emplace_back(name);
    return 4 + others_.size();
  }

  /// A step of 1, 2 or 5 × 10^n units that leaves room for its labels; the axis ends at or after `largest`.
  void choose_ticks(bytes largest) {
    const std::uint64_t unit = bytes_per(unit_);
    const svg_length plot = width_ - 2 * margin;
    std::uint64_t step = 1;
    for (std::uint64_t round = 0;; ++round) {
      const std::uint64_t units = ceil_div(larger<std::uint64_t>(largest.value, 1), unit);
      const std::uint64_t steps = ceil_div(units, step);
      const std::string last = grouped_label(step * steps) + ' ' + name_of(unit_);
      // the last label ends at its tick, the one before is centred on its own
      const svg_length label = svg_text_width(last, small_size, false) * 3 / 2 + 10 * svg_pixel;
      if (steps <= 10 && static_cast<svg_length>(steps) * label <= plot) {
        tick_step_ = step;
        tick_count_ = steps;
        break;
      }
      step = round % 3 == 1 ? step / 2 * 5 : step * 2;  // 1, 2, 5, 10, …
    }
    tick_unit_ = unit;
    // the end of the axis in bytes may need more than 64 bits, so the scale is kept in units
    axis_end_ = tick_step_ * tick_count_;
  }
  [[nodiscard]] static std::string grouped_label(std::uint64_t n) {
    return n < 10000 ? std::to_string(n) : grouped(n);
  }

  /// Where an amount lies on the axis.
  [[nodiscard]] svg_length x_of(bytes amount) const {
    const auto plot = static_cast<std::uint64_t>(width_ - 2 * margin);
    const std::uint64_t whole = amount.value / tick_unit_;
    const std::uint64_t rest = amount.value % tick_unit_;
    const std::uint64_t of_one = proportion(rest, tick_unit_, plot) / larger<std::uint64_t>(axis_end_, 1);
    return margin + static_cast<svg_length>(proportion(whole, axis_end_, plot) + of_one);
  }
  [[nodiscard]] std::string size(bytes amount) const {
    return visible_number_in(amount, unit_, options_.precision) + ' ' + name_of(unit_);
  }

  // --- pieces --------------------------------------------------------------------------------------------

  void text(svg_length x, svg_length y, const char* style, std::string_view content,
            const char* anchor = nullptr) {
    out_ += "<text x=\"" + svg_number(x) + "\" y=\"" + svg_number(y) + "\" class=\"" + style + '"';
    if (anchor != nullptr) out_ += std::string(" text-anchor=\"") + anchor + '"';
    out_ += '>' + xml_text(content) + "</text>\n";
  }
  [[nodiscard]] static std::string box(svg_length x, svg_length y, svg_length w, svg_length h) {
    return "<rect x=\"" + svg_number(x) + "\" y=\"" + svg_number(y) + "\" width=\"" + svg_number(w) +
           "\" height=\"" + svg_number(h) + '"';
  }
  void rect(svg_length x, svg_length y, svg_length w, svg_length h, const char* style) {
    out_ += box(x, y, w, h) + " class=\"" + style + "\"/>\n";
  }
  void line(svg_length x1, svg_length y1, svg_length x2, svg_length y2, const char* style) {
    out_ += "<line x1=\"" + svg_number(x1) + "\" y1=\"" + svg_number(y1) + "\" x2=\"" + svg_number(x2) +
            "\" y2=\"" + svg_number(y2) + "\" class=\"" + style + "\"/>\n";
  }
  void coloured_rect(svg_length x, svg_length y, svg_length w, svg_length h, std::size_t colour_index) {
    out_ += box(x, y, w, h) + " fill=\"" + palette[colour_index % 8].fill + "\"/>\n";
    if (colour_index >= 8) out_ += box(x, y, w, h) + " fill=\"url(#kvb-stripes)\"/>\n";
  }
  [[nodiscard]] static bool has_room(svg_length from, svg_length to, std::string_view content) {
    return svg_text_width(content, small_size, false) + 10 * svg_pixel <= to - from;
  }
  /// A label in the middle of a region of the bar, where it fits; else nothing: the legend has it, too.
  void label_if_room(svg_length from, svg_length to, const char* style, std::string_view content) {
    if (has_room(from, to, content)) text((from + to) / 2, baseline(), style, content, "middle");
  }
  /// A line with caps at its ends.
  void bounds(svg_length x1, svg_length x2, svg_length y) {
    line(x1, y, x2, y, "kvb-bounds");
    line(x1, y - 3 * svg_pixel, x1, y + 3 * svg_pixel, "kvb-bounds");
    line(x2, y - 3 * svg_pixel, x2, y + 3 * svg_pixel, "kvb-bounds");
  }

  /// The title in one row, in smaller letters where it is long, else in several rows.
  void draw_title() {
    y_ = margin;
    if (options_.title.empty() && options_.engine.empty()) return;
    const std::string engine =
        options_.engine.empty() ? "" : svg_shortened(options_.engine, text_size, false, width_ / 3);
    const svg_length engine_width = engine.empty() ? 0 : svg_text_width(engine, text_size, false) + margin;
    const svg_length room = width_ - 2 * margin - engine_width;
    const bool is_short = svg_text_width(one_line(options_.title), title_size, true) <= room;
    y_ += 16 * svg_pixel;
    if (!engine.empty()) text(width_ - margin, y_, "kvb-soft kvb-text", engine, "end");
    if (is_short) {
      text(margin, y_, "kvb-ink kvb-title", options_.title);
    } else {
      for (const std::string& row : broken(options_.title, heading_size, true, room)) {
        text(margin, y_, "kvb-ink kvb-heading", row);
        y_ += 22 * svg_pixel;
      }
      y_ -= 22 * svg_pixel;
    }
    y_ += 20 * svg_pixel;
  }

  void draw_bar(const bar& each) {
    y_ += 20 * svg_pixel;
    const svg_length room = width_ - 2 * margin;
    const std::string total = size(each.need.expected) + (each.need.low != each.need.high ? " expected" : "");
    const svg_length total_room = svg_text_width(total, label_size, true) + margin;
    text(margin, y_, "kvb-ink kvb-label", svg_shortened(each.label, label_size, true, room - total_room));
    text(width_ - margin, y_, "kvb-ink kvb-label", total, "end");
    if (each.gpu) draw_verdict(each);
    y_ += 15 * svg_pixel;
    draw_tracks(each);
    y_ += bar_height;
    draw_bounds(each);
    y_ += 8 * svg_pixel;
    draw_legend(each);
    y_ += 14 * svg_pixel;
  }

  void draw_verdict(const bar& each) {
    y_ += 22 * svg_pixel;
    const svg_length middle = y_ - 4 * svg_pixel - 50;
    const svg_length x = margin;
    const auto at = [&](svg_length dx, svg_length dy) {
      return svg_number(x + dx * svg_pixel) + ' ' + svg_number(middle + dy * svg_pixel);
    };
    if (each.answer.fits) {
      out_ += "<path d=\"M" + at(1, 0) + " L" + at(5, 4) + " L" + at(12, -5) + "\" class=\"kvb-yes\"/>\n";
    } else {
      out_ += "<path d=\"M" + at(2, -4) + " L" + at(11, 5) + " M" + at(11, -4) + " L" + at(2, 5) +
              "\" class=\"kvb-no\"/>\n";
    }
    size_spec spec;
    spec.unit = unit_;
    if (unit_ != byte_unit::B) spec.layout.precision = options_.precision;
    const std::string words = verdict_sentence(each.need, *each.gpu, each.answer, spec);
    std::string offer = each.gpu->name + ": " + size(each.gpu->available.expected) + " usable";
    if (each.gpu->reported != bytes{}) offer += ", " + size(each.gpu->reported) + " reported by the driver";
    const svg_length indent = margin + 20 * svg_pixel;
    const svg_length room = width_ - margin - indent;
    const svg_length offer_width = svg_text_width(offer, text_size, false);
    const bool one_row = svg_text_width(words, text_size, false) + offer_width + margin <= room;
    if (one_row) text(width_ - margin, y_, "kvb-soft kvb-text", offer, "end");
    const auto rows = [&](std::string_view content, const char* style) {
      for (const std::string& row : broken(content, text_size, false, room)) {
        text(indent, y_, style, row);
        y_ += 18 * svg_pixel;
      }
    };
    rows(words, "kvb-ink kvb-text");
    const std::string missing = not_counted_sentence(each.need, *each.gpu);
    if (!missing.empty()) rows(missing, "kvb-ink kvb-text");
    if (!one_row) rows(offer, "kvb-soft kvb-text");
    y_ -= 18 * svg_pixel;
  }

  /// "85.03 GB" stays on one line.
  [[nodiscard]] std::string with_kept_units(std::string words) const {
    const std::string unit = std::string(" ") + name_of(unit_);
    for (std::size_t at = words.find(unit); at != std::string::npos; at = words.find(unit, at + 1)) {
      words.replace(at, 1, "\u00A0");
    }
    return words;
  }

  /// Lines that are no wider than `room`.
  [[nodiscard]] std::vector<std::string> broken(std::string_view words, svg_length font_size, bool bold,
                                                svg_length room) const {
    std::vector<std::string> lines;
    std::string current;
    const std::string clean = with_kept_units(one_line(words));
    std::string_view rest = clean;
    while (!rest.empty()) {
      const std::size_t blank = rest.find(' ');
      const std::string word = svg_shortened(rest.substr(0, blank), font_size, bold, room);
      rest.remove_prefix(blank == std::string_view::npos ? rest.size() : blank + 1);
      const std::string longer = current.empty() ? word : current + ' ' + word;
      if (!current.empty() && svg_text_width(longer, font_size, bold) > room) {
        lines.push_back(current);
        current = word;
      } else {
        current = longer;
      }
    }
    lines.push_back(current);
    return lines;
  }

  /// The bar itself: ticks and the GPU behind, segments, what is asked for, left or missing, capacity lines.
  void draw_tracks(const bar& each) {
    const svg_length bottom = y_ + bar_height;
    for (std::uint64_t i = 0; i <= tick_count_; ++i) {
      line(tick_x(i), y_ - 4 * svg_pixel, tick_x(i), bottom + 4 * svg_pixel, "kvb-grid");
    }
    if (each.gpu) {
      const bytes end = larger(each.gpu->reported, each.gpu->available.expected);
      rect(margin, y_, x_of(end) - margin, bar_height, "kvb-track");
    }
    draw_segments(each);
    if (!each.gpu) return;
    draw_rest(each);
    const auto capacity = [&](bytes amount, const char* style) {
      line(x_of(amount), y_ - 7 * svg_pixel, x_of(amount), bottom + 7 * svg_pixel, style);
    };
    if (each.gpu->reported != bytes{}) capacity(each.gpu->reported, "kvb-reported");
    capacity(each.gpu->available.expected, "kvb-usable");
    uses_reported_ = uses_reported_ || each.gpu->reported != bytes{};
    uses_usable_ = true;
  }

  [[nodiscard]] svg_length baseline() const { return y_ + bar_height / 2 + 4 * svg_pixel + 30; }

  /// Labels end before the line of the usable memory: nothing is written across it or on the hatching behind.
  void draw_segments(const bar& each) {
    const svg_length end = each.gpu ? x_of(each.gpu->available.expected) - 2 * svg_pixel : width_;
    bytes from{};
    for (const segment& part : each.segments) {
      const line_item& item = part.row.item;
      const svg_length x1 = x_of(from);
      from += item.expected;
      if (item.expected == bytes{}) continue;
      const svg_length width = x_of(from) - x1;
      const svg_length gap = width > 4 * svg_pixel ? svg_pixel : 0;
      const svg_length x2 = x1 + larger<svg_length>(width - gap, svg_pixel / 2);
      out_ += "<g><title>" + tooltip(part, each.need.expected) + "</title>\n";
      coloured_rect(x1, y_, x2 - x1, bar_height, part.colour);
      if (part.colour < 8) {
        const bool dark = palette[part.colour].dark_text;
        const char* style = dark ? "kvb-small kvb-on-light" : "kvb-small kvb-on-dark";
        const std::string number = visible_number_in(item.expected, unit_, options_.precision);
        const std::string named = one_line(item.name) + ' ' + number;
        const svg_length until = smaller(x2, end);
        label_if_room(x1, until, style, has_room(x1, until, named) ? named : number);
      }
      out_ += "</g>\n";
    }
  }

  /// What comes after the segments: the headroom asked for, and what is left or missing.
  void draw_rest(const bar& each) {
    const auto region = [&](bytes from, bytes to, const char* looks) {
      const svg_length x = x_of(from);
      out_ += box(x, y_, larger<svg_length>(x_of(to) - x, svg_pixel), bar_height) + looks;
    };
    const bytes usable = each.gpu->available.expected;
    if (each.answer.reserved != bytes{}) {
      region(each.need.expected, each.wanted, " fill=\"url(#kvb-dots)\" class=\"kvb-outline\"/>\n");
    }
    if (each.wanted < usable) {
      region(each.wanted, usable, " fill=\"url(#kvb-free)\"/>\n");
      label_if_room(x_of(each.wanted), x_of(usable), "kvb-small kvb-ink",
                    size(usable - each.wanted) + " left");
      uses_left_ = true;
    } else if (usable < each.wanted) {
      region(usable, each.wanted, " fill=\"url(#kvb-missing)\" class=\"kvb-missing-outline\"/>\n");
      uses_missing_ = true;
    }
  }

  /// Where the total may lie: a line with caps below the bar.
  void draw_bounds(const bar& each) {
    if (each.need.low == each.need.high) return;
    const svg_length y = y_ + 9 * svg_pixel;
    bounds(x_of(each.need.low), x_of(each.need.high), y);
    out_ += "<circle cx=\"" + svg_number(x_of(each.need.expected)) + "\" cy=\"" + svg_number(y) +
            "\" r=\"2.5\" class=\"kvb-dot\"/>\n";
    y_ += 10 * svg_pixel;
    uses_bounds_ = true;
  }

  /// All that is known of a line, as XML text: shown where the pointer rests on its segment.
  [[nodiscard]] std::string tooltip(const segment& part, bytes total) const {
    const line_item& item = part.row.item;
    std::string words = xml_text(std::string(item.name) + ' ' + size(item.expected) + ", " +
                                 percent_of(item.expected, total) + ", " + name_of(item.known));
    if (item.low != item.high) {
      words += xml_text(", between " + size(item.low) + " and " + size(item.high));
    }
    for (const std::string& line_of_part : part.parts) words += '\n' + xml_text(line_of_part);
    if (*item.source != '\0') words += '\n' + xml_text(item.source);
    return words;
  }

  /// Swatches with names, sizes and shares, as many in a row as there is room.
  void draw_legend(const bar& each) {
    y_ += 14 * svg_pixel;
    svg_length x = margin;
    const svg_length room = width_ - 2 * margin;
    if (each.segments.empty()) text(margin, y_, "kvb-soft kvb-small", "nothing is in this ledger");
    const auto place = [&](svg_length w) {
      if (x != margin && x + w > margin + room) {
        x = margin;
        y_ += 20 * svg_pixel;
      }
    };
    for (const segment& part : each.segments) {
      const line_item& item = part.row.item;
      const std::string figures =
          size(item.expected) + " · " + percent_of(item.expected, each.need.expected) +
          (item.known == basis::exact ? "" : std::string(" · ") + name_of(item.known));
      const svg_length figures_width = svg_text_width(figures, small_size, false);
      const std::string name =
          svg_shortened(item.name, small_size, true, room - figures_width - 26 * svg_pixel);
      const svg_length name_width = svg_text_width(name, small_size, true);
      const svg_length w = 24 * svg_pixel + name_width + figures_width;
      place(w);
      coloured_rect(x, y_ - 10 * svg_pixel, 11 * svg_pixel, 11 * svg_pixel, part.colour);
      out_ += "<text x=\"" + svg_number(x + 17 * svg_pixel) + "\" y=\"" + svg_number(y_) +
              "\" class=\"kvb-small kvb-ink\"><tspan class=\"kvb-strong\">" + xml_text(name) +
              "</tspan> <tspan class=\"kvb-soft\">" + xml_text(figures) + "</tspan></text>\n";
      x += w + 20 * svg_pixel;
    }
    const auto entry = [&](std::string_view words) {
      const svg_length w = 24 * svg_pixel + svg_text_width(words, small_size, false);
      place(w);
      text(x + 17 * svg_pixel, y_, "kvb-small kvb-soft", words);
      const svg_length at = x;
      x += w + 20 * svg_pixel;
      return at;
    };
    if (each.need.low != each.need.high) {
      const svg_length at = entry("total " + visible_number_in(each.need.low, unit_, options_.precision) +
                                  " – " + size(each.need.high));
      bounds(at, at + 12 * svg_pixel, y_ - 4 * svg_pixel - 50);
    }
    if (each.gpu && each.answer.reserved != bytes{}) {
      const svg_length at = entry("headroom asked for " + size(each.answer.reserved));
      out_ += box(at, y_ - 10 * svg_pixel, 11 * svg_pixel, 11 * svg_pixel) +
              " fill=\"url(#kvb-dots)\" class=\"kvb-outline\"/>\n";
    }
  }

  [[nodiscard]] svg_length tick_x(std::uint64_t i) const {
    const auto plot = static_cast<std::uint64_t>(width_ - 2 * margin);
    return margin + static_cast<svg_length>(plot * i / larger<std::uint64_t>(tick_count_, 1));
  }

  void draw_axis() {
    y_ += 18 * svg_pixel;
    line(margin, y_, width_ - margin, y_, "kvb-axis");
    for (std::uint64_t i = 0; i <= tick_count_; ++i) {
      line(tick_x(i), y_, tick_x(i), y_ + 5 * svg_pixel, "kvb-axis");
      std::string label = grouped_label(i * tick_step_);
      const char* anchor = "middle";
      if (i == 0) anchor = "start";
      if (i == tick_count_) {
        anchor = "end";
        label += std::string(" ") + name_of(unit_);
      }
      text(tick_x(i), y_ + 19 * svg_pixel, "kvb-small kvb-soft", label, anchor);
    }
    y_ += 22 * svg_pixel;
  }

  /// What the lines and hatchings of the bars mean; only those that occur.
  void draw_key() {
    struct entry {
      bool used;
      const char* words;
      int kind;
    };
    const entry entries[] = {{uses_usable_, "usable by a program", 0},
                             {uses_reported_, "reported by the driver", 1},
                             {uses_left_, "left", 2},
                             {uses_missing_, "missing", 3},
                             {uses_bounds_, "lowest to highest total", 4}};
    svg_length x = margin;
    bool any = false;
    for (const entry& each : entries) {
      if (!each.used) continue;
      if (!any) y_ += 20 * svg_pixel;
      any = true;
      const svg_length w = 20 * svg_pixel + svg_text_width(each.words, small_size, false);
      if (x != margin && x + w > width_ - margin) {
        x = margin;
        y_ += 20 * svg_pixel;
      }
      const svg_length top = y_ - 10 * svg_pixel;
      const svg_length side = 12 * svg_pixel;
      const std::string square = box(x, top, side, 11 * svg_pixel);
      switch (each.kind) {
        case 0: line(x + side / 2, top - svg_pixel, x + side / 2, y_ + 2 * svg_pixel, "kvb-usable"); break;
        case 1: line(x + side / 2, top - svg_pixel, x + side / 2, y_ + 2 * svg_pixel, "kvb-reported"); break;
        case 2: out_ += square + " fill=\"url(#kvb-free)\" class=\"kvb-outline\"/>\n"; break;
        case 3: out_ += square + " fill=\"url(#kvb-missing)\" class=\"kvb-missing-outline\"/>\n"; break;
        default: bounds(x, x + side, y_ - 4 * svg_pixel - 50);
      }
      text(x + 18 * svg_pixel, y_, "kvb-small kvb-soft", each.words);
      x += w + 20 * svg_pixel;
    }
    y_ += margin - 4 * svg_pixel;
  }

  // --- the file ------------------------------------------------------------------------------------------

  [[nodiscard]] std::string description() const {
    std::string words;
    for (const bar& each : bars_) {
      if (!words.empty()) words += ' ';
      if (!each.label.empty()) words += each.label + ": ";
      words += "total " + size(each.need.expected) + " (";
      bool first = true;
      for (const segment& part : each.segments) {
        if (!first) words += ", ";
        words += std::string(part.row.item.name) + ' ' + size(part.row.item.expected);
        first = false;
      }
      words += first ? "nothing)" : ")";
      if (each.gpu) {
        words += each.answer.fits ? " fits " : " does not fit ";
        words += each.gpu->name + " with " + size(each.gpu->available.expected) + " usable";
      }
      words += '.';
    }
    return words;
  }

  [[nodiscard]] std::string finish() {
    const std::string w = svg_number(width_);
    const std::string h = svg_number(y_);
    std::string head = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + w + "\" height=\"" + h +
                       "\" viewBox=\"0 0 " + w + ' ' + h + "\" role=\"img\">\n";
    head += "<title>" + xml_text(options_.title.empty() ? "GPU memory" : options_.title) + "</title>\n";
    head += "<desc>" + xml_text(description()) + "</desc>\n";
    head += styles();
    head += patterns();
    if (options_.card) {
      head += "<rect width=\"" + w + "\" height=\"" + h + "\" rx=\"10\" class=\"kvb-card\"/>\n";
    }
    return head + out_ + "</svg>";
  }

  /// Greys that are legible on white and on black; viewers that know the page's scheme get stronger ones.
  [[nodiscard]] std::string styles() const {
    const char* ink = options_.card ? "#1f2328" : "#757c85";
    const char* soft = options_.card ? "#59636e" : "#757c85";
    const auto scheme = [](const char* strong, const char* weak, const char* card) {
      return std::string(".kvb-ink{fill:") + strong + "}.kvb-soft{fill:" + weak +
             "}.kvb-usable{stroke:" + strong +
             "}.kvb-reported,.kvb-bounds,.kvb-axis,.kvb-pattern{stroke:" + weak +
             "}.kvb-dot,.kvb-pattern-dot{fill:" + weak + "}.kvb-card{fill:" + card + "}";
    };
    std::string css = "<style>\n";
    css += "text{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"DejaVu Sans\",sans-serif}\n";
    css += ".kvb-title{font-size:20px;font-weight:600}.kvb-heading{font-size:17px;font-weight:600}";
    css += ".kvb-label{font-size:15px;font-weight:600}";
    css += ".kvb-text{font-size:13px}.kvb-small{font-size:12px}.kvb-strong{font-weight:600}\n";
    css += ".kvb-on-dark{fill:#ffffff}.kvb-on-light{fill:#14181d}\n";
    css += ".kvb-track{fill:#8c959f;fill-opacity:.16}.kvb-grid{stroke:#8c959f;stroke-opacity:.4}\n";
    css += ".kvb-outline{stroke:#8c959f;stroke-width:1}";
    css += ".kvb-missing-outline{stroke:#e5484d;stroke-width:1.5}\n";
    css += ".kvb-usable{stroke-width:2.5}.kvb-reported{stroke-width:1.5;stroke-dasharray:4 3}";
    css += ".kvb-bounds{stroke-width:1.5}.kvb-pattern{stroke-width:1.5}\n";
    css += ".kvb-yes,.kvb-no{fill:none;stroke-width:2.6;stroke-linecap:round;stroke-linejoin:round}";
    css += ".kvb-yes{stroke:#009e73}.kvb-no{stroke:#e5484d}\n";
    css += scheme(ink, soft, "#ffffff") + '\n';
    css += "@media (prefers-color-scheme:light){" + scheme("#1f2328", "#59636e", "#ffffff") + "}\n";
    css += "@media (prefers-color-scheme:dark){" + scheme("#e6edf3", "#9198a1", "#0d1117") + "}\n";
    return css + "</style>\n";
  }

  [[nodiscard]] static std::string patterns() {
    const auto hatch = [](const char* id, const char* gap, const char* content) {
      return std::string("<pattern id=\"kvb-") + id + "\" width=\"" + gap + "\" height=\"" + gap +
             "\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">" + content + "</pattern>\n";
    };
    std::string defs = "<defs>\n";
    defs += hatch("free", "9",
                  "<line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"9\" class=\"kvb-pattern\" stroke-opacity=\".22\"/>");
    defs += hatch("dots", "6", "<circle cx=\"3\" cy=\"3\" r=\"1.2\" class=\"kvb-pattern-dot\"/>");
    defs += hatch("missing", "7",
                  "<line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"7\" stroke=\"#e5484d\" stroke-width=\"5\"/>");
    defs += hatch("stripes", "8",
                  "<line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"8\" stroke=\"#14181d\" stroke-opacity=\".45\" "
                  "stroke-width=\"5\"/>");
    return defs + "</defs>\n";
  }

  const report::svg_options& options_;
  svg_length width_;
  svg_length y_ = 0;
  byte_unit unit_ = byte_unit::GB;
  std::uint64_t tick_step_ = 1;
  std::uint64_t tick_count_ = 1;
  std::uint64_t tick_unit_ = 1;
  std::uint64_t axis_end_ = 1;
  std::vector<bar> bars_{};
  std::vector<std::string> others_{};
  std::string out_{};
  bool uses_usable_ = false;
  bool uses_reported_ = false;
  bool uses_left_ = false;
  bool uses_missing_ = false;
  bool uses_bounds_ = false;
};

}  // namespace detail

namespace report {

/// A chart of several ledgers on one axis, a self-contained SVG file: a stacked bar for each, with the GPU's
/// usable and reported memory, the headroom asked for, what is left or missing, the verdict, and a legend
/// with every item. It follows the reader's light or dark scheme; where that is not known its greys are
/// legible on both. The text does not end in a newline.
[[nodiscard]] inline std::string svg(const std::vector<named_budget>& bars, const svg_options& options = {}) {
  return detail::svg_writer(options).draw(bars);
}

/// The ledger of one GPU.
[[nodiscard]] inline std::string svg(const memory_budget& budget, const svg_options& options = {}) {
  return svg(std::vector<named_budget>{{"memory of one GPU", budget, {}}}, options);
}

/// One bar per kind of rank, worst first.
[[nodiscard]] inline std::string svg(const cluster_budget& cluster, const svg_options& options = {}) {
  std::vector<named_budget> bars;
  for (std::uint32_t i = 0; i < cluster.kind_count; ++i) {
    const bool is_worst = i == 0 && cluster.kind_count > 1;
    std::string label = detail::ranks_text(cluster.kinds[i]) + (is_worst ? " (the worst)" : "");
    bars.push_back({std::move(label), cluster.kinds[i].budget, {}});
  }
  return svg(bars, options);
}

}  // namespace report

}  // namespace kvbudget::inline v0
