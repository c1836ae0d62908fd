#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// The words of one simple command.
using shell_words = std::vector<std::string>;

/// Splits text into simple commands as a POSIX shell does: quotes, backslashes, continued lines and comments;
/// redirections are left out, `;` `&` `&&` `|` `||` and parentheses end a command. `$NAME` and `$(...)` stay
/// as they are written. A line that starts with an option continues the one before, as pasted from a page
/// that lost its backslashes. An open quote throws `command_error`.
[[nodiscard]] std::vector<shell_words> split_shell(std::string_view text);

/// The same for words that a shell has split already: a word that is an operator or a redirection counts as
/// one.
[[nodiscard]] std::vector<shell_words> split_commands(const shell_words& words);

}  // namespace cli
