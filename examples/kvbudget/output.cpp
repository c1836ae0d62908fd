#include "output.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

#include "command_error.hpp"
#include "kvbudget/io/input_error.hpp"

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace cli {

using namespace kvbudget;

void output_options::add_json(CLI::App& command) {
  command.add_flag("--json", json_, "print JSON: whole bytes, null for what has no answer")->group("Output");
}

void output_options::add_unit(CLI::App& command) {
  command.add_option("--unit", unit_, "print sizes in this unit (default: GB)")
      ->type_name("GB|GiB|MB|MiB")
      ->group("Output");
}

void output_options::add_all(CLI::App& command) {
  add_json(command);
  command.add_flag("--markdown", markdown_, "print a Markdown table")->group("Output");
  command.add_flag("--csv", csv_, "print comma-separated values")->group("Output");
  command.add_option("--svg", svg_, "also draw the estimate into this file")
      ->type_name("FILE")
      ->group("Output");
  add_unit(command);
}

output_kind output_options::kind() const {
  if (int{json_} + int{markdown_} + int{csv_} > 1) {
    refuse("give only one of --json, --markdown, --csv");
  }
  if (json_) return output_kind::json;
  if (markdown_) return output_kind::markdown;
  return csv_ ? output_kind::csv : output_kind::text;
}

byte_unit output_options::unit() const {
  if (!unit_) return byte_unit::automatic;
  for (const byte_unit each : {byte_unit::GB, byte_unit::GiB, byte_unit::MB, byte_unit::MiB}) {
    if (*unit_ == name_of(each)) return each;
  }
  refuse("--unit: \"{}\" is unknown, expected GB, GiB, MB or MiB", detail::printable(*unit_, 40));
}

void print_json(const nlohmann::ordered_json& value) {
  fmt::print("{}\n", value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void print_remarks(const std::vector<std::string>& notes, const std::vector<std::string>& warnings) {
  for (const std::string& line : notes) fmt::print("note: {}\n", line);
  for (const std::string& line : warnings) fmt::print("warning: {}\n", line);
}

void write_file(const std::string& path, std::string_view content) {
  std::ofstream out(path, std::ios::binary);
  out << content;
  out.close();
  if (!out) refuse("{}: cannot be written", detail::printable(path, 200));
}

bool wants_color() {
#if __has_include(<unistd.h>)
  return isatty(1) == 1 && std::getenv("NO_COLOR") == nullptr;
#else
  return false;
#endif
}

}  // namespace cli
