// "Why does a 70B model need 144 GB?", told with the library. The same as `kvbudget explain`.
#include "article_story.hpp"

int main() { article::tell(); }
