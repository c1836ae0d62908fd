#include "../article_story.hpp"
#include "commands.hpp"

namespace cli {

action add_explain(CLI::App& app) {
  app.add_subcommand("explain", "the story of the 144 GB: item by item, every reading, the slips corrected");
  return [] {
    article::tell();
    return 0;
  };
}

}  // namespace cli
