#pragma once

#include <cstddef>
#include <cstdint>

/// Comparing names as people type them: letter case, `-`, `_`, blanks and parentheses do not matter.
namespace kvbudget::inline v0::detail {

[[nodiscard]] constexpr char lower_case(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

[[nodiscard]] constexpr bool is_separator(char c) {
  return c == '-' || c == '_' || c == ' ' || c == '\t' || c == '(' || c == ')';
}

/// A name in the form in which names are compared: lower case, no separators. Longer ones than `capacity` are
/// cut and marked, so that no two long names compare equal by accident.
struct name_key {
  static constexpr std::size_t capacity = 96;
  char text[capacity] = {};
  std::size_t length = 0;
  bool cut = false;
};

[[nodiscard]] constexpr name_key key_of(const char* name) {
  name_key key;
  for (; *name != '\0'; ++name) {
    if (is_separator(*name)) continue;
    if (key.length == name_key::capacity) {
      key.cut = true;
      break;
    }
    key.text[key.length++] = lower_case(*name);
  }
  return key;
}

/// True when the name, without case and separators, is the key.
[[nodiscard]] constexpr bool matches(const name_key& key, const char* name) {
  if (key.cut) return false;
  std::size_t at = 0;
  for (; *name != '\0'; ++name) {
    if (is_separator(*name)) continue;
    if (at == key.length || key.text[at] != lower_case(*name)) return false;
    ++at;
  }
  return at == key.length;
}

/// True when the text of a key sorts before the key, byte by byte.
[[nodiscard]] constexpr bool is_before(const char* text, const name_key& key) {
  std::size_t at = 0;
  while (at < key.length && text[at] == key.text[at]) ++at;  // stops at the end of the text, too
  return at < key.length && static_cast<unsigned char>(text[at]) < static_cast<unsigned char>(key.text[at]);
}

/// The name behind a leading word and its separator ("nvidia-a40", "NVIDIA A40" → "a40"); the whole name
/// where it does not start with that word.
[[nodiscard]] constexpr const char* without_leading_word(const char* name, const char* word) {
  const char* rest = name;
  while (is_separator(*rest)) ++rest;
  for (; *word != '\0'; ++word, ++rest) {
    if (lower_case(*rest) != *word) return name;
  }
  if (!is_separator(*rest)) return name;
  while (is_separator(*rest)) ++rest;
  return *rest == '\0' ? name : rest;
}

/// The next word of a name: sets `begin` and `length`, moves `text` behind it; false at the end.
[[nodiscard]] constexpr bool next_word(const char*& text, const char*& begin, std::size_t& length) {
  while (is_separator(*text)) ++text;
  begin = text;
  while (*text != '\0' && !is_separator(*text)) ++text;
  length = static_cast<std::size_t>(text - begin);
  return length != 0;
}

[[nodiscard]] constexpr bool has_word(const char* name, const char* word, std::size_t length) {
  const char* begin = nullptr;
  std::size_t other = 0;
  while (next_word(name, begin, other)) {
    if (other != length) continue;
    std::size_t i = 0;
    while (i < length && lower_case(begin[i]) == lower_case(word[i])) ++i;
    if (i == length) return true;
  }
  return false;
}

/// True when every word of `asked`, of which there is at least one, is a word of `first` or of `second`.
[[nodiscard]] constexpr bool every_word_is_in(const char* asked, const char* first, const char* second) {
  const char* word = nullptr;
  std::size_t length = 0;
  bool any = false;
  while (next_word(asked, word, length)) {
    if (!has_word(first, word, length) && !has_word(second, word, length)) return false;
    any = true;
  }
  return any;
}

[[nodiscard]] constexpr bool starts_with(const name_key& name, const name_key& beginning) {
  if (beginning.cut || beginning.length > name.length) return false;
  for (std::size_t i = 0; i < beginning.length; ++i) {
    if (name.text[i] != beginning.text[i]) return false;
  }
  return true;
}

/// How many characters must be added, removed or replaced to turn one key into the other (Levenshtein), or
/// `limit + 1` where it is more than `limit`. At most (2 × limit + 1) × length steps.
[[nodiscard]] constexpr std::size_t edit_distance(const name_key& a, const name_key& b, std::size_t limit) {
  const std::size_t gap = a.length > b.length ? a.length - b.length : b.length - a.length;
  if (a.cut || b.cut || gap > limit) return limit + 1;
  std::size_t row[name_key::capacity + 1] = {};
  for (std::size_t j = 0; j <= b.length; ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.length; ++i) {
    const std::size_t first = i > limit ? i - limit : 1;
    const std::size_t last = i + limit < b.length ? i + limit : b.length;
    std::size_t diagonal = row[first - 1];
    row[first - 1] = first == 1 ? i : limit + 1;
    std::size_t best = row[first - 1];
    for (std::size_t j = first; j <= last; ++j) {
      const std::size_t above = j == i + limit ? limit + 1 : row[j];
      std::size_t cost = diagonal + static_cast<std::size_t>(a.text[i - 1] != b.text[j - 1]);
      if (above + 1 < cost) cost = above + 1;
      if (row[j - 1] + 1 < cost) cost = row[j - 1] + 1;
      diagonal = row[j];
      row[j] = cost;
      if (cost < best) best = cost;
    }
    if (best > limit) return limit + 1;
  }
  return row[b.length] > limit ? limit + 1 : row[b.length];
}

/// How far a misspelt name may be from the real one: two edits, or a third of its length.
[[nodiscard]] constexpr std::size_t spelling_limit(const name_key& asked) {
  return asked.length < 6 ? 2 : asked.length / 3;
}

/// The few entries of a table that are nearest to what was asked, nearest first; an entry may be offered
/// under several names.
template <std::size_t Size> struct nearest_entries {
  std::size_t index[Size] = {};
  std::size_t distance[Size] = {};
  std::size_t count = 0;

  constexpr void offer(std::size_t entry, std::size_t away) {
    std::size_t at = 0;
    while (at < count && index[at] != entry) ++at;
    if (at < count) {  // known: take it out when this name is nearer
      if (distance[at] <= away) return;
      for (; at + 1 < count; ++at) {
        index[at] = index[at + 1];
        distance[at] = distance[at + 1];
      }
      --count;
    }
    std::size_t place = count;
    while (place > 0 && distance[place - 1] > away) --place;
    if (place == Size) return;
    if (count < Size) ++count;
    for (std::size_t i = count - 1; i > place; --i) {
      index[i] = index[i - 1];
      distance[i] = distance[i - 1];
    }
    index[place] = entry;
    distance[place] = away;
  }

  /// The greatest distance that would still be kept.
  [[nodiscard]] constexpr std::size_t limit(std::size_t spelling) const {
    return count == Size && distance[Size - 1] < spelling ? distance[Size - 1] : spelling;
  }
};

}  // namespace kvbudget::inline v0::detail
