#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "compare_options.hpp"
#include "kvbudget/io/input_error.hpp"

namespace cli {

using namespace kvbudget;

void told_options::take(const told_option& told) {
  CLI::Option* option = command_.get_option_no_throw(told.name);
  const std::string shown =
      told.value.empty() ? told.name : told.name + " " + detail::printable(told.value, 80);
  if (option == nullptr) {
    not_modelled_.push_back(shown);
  } else if (!is_given(told.name)) {
    option->add_result(told.value.empty() ? "true" : told.value);
    option->run_callback();
    taken_.push_back(shown);
    if (!told.doubt.empty()) doubts_.push_back(told.doubt);
  }
}

void told_options::take_silently(const char* name, const char* value) {
  if (is_given(name)) return;
  CLI::Option* option = command_.get_option(name);
  option->add_result(value);
  option->run_callback();
}

bool told_options::is_given(const std::string& name) const {
  for (const std::initializer_list<const char*> alike :
       {std::initializer_list<const char*>{"--model", "--config", "--safetensors", "--gguf", "--layers"},
        std::initializer_list<const char*>{"--sequences", "--active-tokens"}}) {
    const bool among =
        std::any_of(alike.begin(), alike.end(), [&](const char* each) { return name == each; });
    if (among) return std::any_of(alike.begin(), alike.end(), [&](const char* each) { return has(each); });
  }
  return has(name.c_str());
}

bool told_options::has(const char* name) const {
  const CLI::Option* option = command_.get_option_no_throw(name);
  return option != nullptr && option->count() != 0;
}

std::vector<std::string> told_options::notes() const {
  std::vector<std::string> lines;
  if (!taken_.empty()) lines.push_back(fmt::format("from the log: {}", fmt::join(taken_, ", ")));
  if (!not_modelled_.empty()) {
    lines.push_back(fmt::format("in the log, not modelled here: {}", fmt::join(not_modelled_, ", ")));
  }
  return lines;
}

}  // namespace cli
