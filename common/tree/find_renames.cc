#include <algorithm>
#include <map>
#include <tuple>

#include "common/tree/tree.h"

namespace galley::tree {
namespace {

using Kind = Difference::Kind;

// Differences of one digest, by index, in the order of their paths.
struct Group {
  std::vector<size_t> removed, added;
};

size_t CommonEnd(std::string_view a, std::string_view b) {
  const auto [end, unused] = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend());
  return static_cast<size_t>(end - a.rbegin());
}

struct Pair {
  size_t common_end = 0;
  size_t removed = 0;
  size_t added = 0;
};

// The best ones first.
std::vector<Pair> PairsOf(const Group& group, const std::vector<Difference>& differences) {
  std::vector<Pair> pairs;
  if (group.removed.size() > kRenamePairsMax / group.added.size()) {
    for (size_t i = 0; i < std::min(group.removed.size(), group.added.size()); ++i)
      pairs.push_back({0, group.removed[i], group.added[i]});
    return pairs;
  }
  for (const size_t removed : group.removed) {
    for (const size_t added : group.added) {
      pairs.push_back({CommonEnd(differences[removed].before.path, differences[added].after.path),
                       removed, added});
    }
  }
  std::ranges::sort(pairs, [](const Pair& a, const Pair& b) {
    return std::tuple(b.common_end, a.removed, a.added) <
           std::tuple(a.common_end, b.removed, b.added);
  });
  return pairs;
}

}  // namespace

std::vector<Difference> FindRenames(std::vector<Difference> differences) {
  std::map<Digest, Group> groups;
  for (size_t i = 0; i < differences.size(); ++i) {
    if (differences[i].kind == Kind::kRemoved)
      groups[differences[i].before.digest].removed.push_back(i);
    if (differences[i].kind == Kind::kAdded) groups[differences[i].after.digest].added.push_back(i);
  }
  std::vector<bool> is_paired(differences.size(), false);
  for (const auto& [digest, group] : groups) {
    if (group.removed.empty() || group.added.empty()) continue;
    for (const Pair& pair : PairsOf(group, differences)) {
      if (is_paired[pair.removed] || is_paired[pair.added]) continue;
      is_paired[pair.removed] = is_paired[pair.added] = true;
      Difference& renamed = differences[pair.added];
      renamed.kind = Kind::kRenamed;
      renamed.before = differences[pair.removed].before;
    }
  }
  // The addition of each pair stays, as the rename.
  std::vector<Difference> found;
  for (size_t i = 0; i < differences.size(); ++i) {
    if (differences[i].kind == Kind::kRemoved && is_paired[i]) continue;
    found.push_back(std::move(differences[i]));
  }
  return found;
}

DifferenceTotals TotalsOf(const std::vector<Difference>& differences) {
  DifferenceTotals totals;
  for (const Difference& one : differences) {
    switch (one.kind) {
      case Kind::kAdded:
        ++totals.added;
        break;
      case Kind::kRemoved:
        ++totals.removed;
        break;
      case Kind::kChanged:
        ++totals.changed;
        break;
      case Kind::kRenamed:
        ++totals.renamed;
        break;
    }
    // The digest of no bytes stands where there was or is no file.
    totals.bytes_before += one.before.digest.size_bytes();
    totals.bytes_after += one.after.digest.size_bytes();
  }
  return totals;
}

}  // namespace galley::tree
