#include "common/store/interface/kept_roots.h"

#include <map>
#include <string>
#include <utility>

namespace galley::store {
namespace {

constexpr uint32_t kKeepRootsDefault = 10;

}  // namespace

std::vector<PublishedRoot> KeptRoots(std::span<const PublishedRoot> newest_first) {
  std::vector<PublishedRoot> kept;
  std::map<std::pair<std::string, std::string>, uint32_t> left_by_the_book;
  for (const PublishedRoot& root : newest_first) {
    const auto [left, is_newest] = left_by_the_book.try_emplace({root.project_id, root.platform});
    if (is_newest) left->second = root.keep_roots != 0 ? root.keep_roots : kKeepRootsDefault;
    const bool counts = root.by_the_book && left->second != 0;
    if (counts) --left->second;
    if (counts || is_newest) kept.push_back(root);
  }
  return kept;
}

}  // namespace galley::store
