#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "common/base/status_macros.h"
#include "director/devices/path_order.h"
#include "director/devices/static_tree.h"

namespace galley::devices {
namespace {

// The folded paths of entries; a path that is its own folded form takes no memory.
class FoldedEntries {
 public:
  FoldedEntries(const std::vector<StaticEntry>& entries, const FoldPath& fold)
      : entries_(entries), folded_(entries.size()) {
    for (size_t i = 0; i < entries.size(); ++i) {
      std::string text = fold(entries[i].path);
      if (text != entries[i].path) folded_[i] = std::make_unique<std::string>(std::move(text));
    }
  }
  std::string_view operator[](size_t i) const {
    return folded_[i] ? *folded_[i] : entries_[i].path;
  }
  bool IsLess(size_t a, size_t b) const {
    const int order = ComparePaths((*this)[a], (*this)[b]);
    return order != 0 ? order < 0 : entries_[a] < entries_[b];
  }

 private:
  const std::vector<StaticEntry>& entries_;
  std::vector<std::unique_ptr<std::string>> folded_;
};

// The entries with one folded path, a run of the order.
struct SamePath {
  size_t begin = 0, end = 0;
  size_t outputs = 0;  // entries that are no links to further outputs
  bool has_output_below = false;
  bool has_any_below = false;
  bool has_output_above = false;
};

// Decides which entries are hidden, in one pass over the entries by folded path: open runs are the
// paths above the current one. Rules as Hides.
class HidingPass {
 public:
  HidingPass(const std::vector<StaticEntry>& entries, const FoldedEntries& folded,
             const std::vector<uint32_t>& order)
      : entries_(entries), folded_(folded), order_(order), is_hidden_(entries.size()) {}

  std::vector<bool> Run() {
    for (size_t at = 0; at < order_.size();) {
      const SamePath run = RunAt(at);
      while (!open_.empty() && !LiesBelow(PathOf(run), PathOf(open_.back()))) Close();
      open_.push_back(run);
      for (size_t i = 0; i + 1 < open_.size(); ++i) {
        open_[i].has_any_below = true;
        open_[i].has_output_below = open_[i].has_output_below || run.outputs > 0;
        open_.back().has_output_above = open_.back().has_output_above || open_[i].outputs > 0;
      }
      at = run.end;
    }
    while (!open_.empty()) Close();
    return std::move(is_hidden_);
  }

 private:
  std::string_view PathOf(const SamePath& run) const { return folded_[order_[run.begin]]; }

  SamePath RunAt(size_t begin) const {
    SamePath run{.begin = begin, .end = begin};
    while (run.end < order_.size() && folded_[order_[run.end]] == folded_[order_[begin]]) {
      run.outputs += entries_[order_[run.end]].is_more() ? 0 : 1;
      ++run.end;
    }
    return run;
  }

  void Close() {
    const SamePath run = open_.back();
    open_.pop_back();
    const bool hides_outputs = run.outputs > 1 || run.has_output_below || run.has_output_above;
    const bool hides_more = run.end - run.begin > 1 || run.has_any_below || run.has_output_above;
    for (size_t i = run.begin; i < run.end; ++i) {
      is_hidden_[order_[i]] = entries_[order_[i]].is_more() ? hides_more : hides_outputs;
    }
  }

  const std::vector<StaticEntry>& entries_;
  const FoldedEntries& folded_;
  const std::vector<uint32_t>& order_;
  std::vector<bool> is_hidden_;
  std::vector<SamePath> open_;
};

}  // namespace

StaticTreeBuild::StaticTreeBuild(std::vector<StaticEntry> entries, const FoldPath& fold)
    : entries_(std::move(entries)) {
  GALLEY_CHECK(entries_.size() <= UINT32_MAX);
  HideConflicting(fold);
  std::ranges::sort(order_, [this](uint32_t a, uint32_t b) {
    return ComparePaths(entries_[a].path, entries_[b].path) < 0;
  });
  open_.emplace_back();
}

void StaticTreeBuild::HideConflicting(const FoldPath& fold) {
  const FoldedEntries folded(entries_, fold);
  std::vector<uint32_t> order(entries_.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) { return folded.IsLess(a, b); });
  const std::vector<bool> is_hidden = HidingPass(entries_, folded, order).Run();
  order_.reserve(order.size());
  for (const uint32_t i : order) {
    if (is_hidden[i]) {
      tree_.hidden.push_back(entries_[i]);
    } else {
      order_.push_back(i);
    }
  }
}

bool StaticTreeBuild::Step(size_t entries_max, std::vector<NamedBlob>& blobs) {
  GALLEY_CHECK(entries_max > 0);
  const size_t end = next_ + std::min(entries_max, order_.size() - next_);
  for (; next_ < end; ++next_) AddEntry(entries_[order_[next_]], blobs);
  if (next_ < order_.size()) return true;
  CloseTo(0, blobs);
  if (!order_.empty()) tree_.root = AppendBlob(EncodeLinkedDirectory(open_[0].directory), blobs);
  return false;
}

StaticTree StaticTreeBuild::Take() {
  GALLEY_CHECK(next_ == order_.size());
  std::ranges::sort(tree_.outputs_named_more);
  return std::move(tree_);
}

void StaticTreeBuild::AddEntry(const StaticEntry& entry, std::vector<NamedBlob>& blobs) {
  std::string_view rest = entry.path;
  size_t depth = 0;
  bool is_shared = true;
  for (size_t slash; (slash = rest.find('/')) != std::string_view::npos; ++depth) {
    const std::string_view name = rest.substr(0, slash);
    rest.remove_prefix(slash + 1);
    is_shared = is_shared && depth + 1 < open_.size() && open_[depth + 1].name == name;
    if (is_shared) continue;
    CloseTo(depth, blobs);
    open_.push_back({name, {}});
  }
  CloseTo(depth, blobs);
  tree::LinkedDirectory& folder = open_.back().directory;
  if (const auto* file = std::get_if<StaticFile>(&entry.shown)) {
    folder.files.push_back({std::string(rest), file->digest, file->is_executable});
    return;
  }
  const StaticLink& link = std::get<StaticLink>(entry.shown);
  folder.links.push_back({std::string(rest), LinkTarget(entry.path, link.end)});
  if (!link.is_more && IsNamedMore(rest)) tree_.outputs_named_more.push_back(entry.path);
}

void StaticTreeBuild::CloseTo(size_t depth, std::vector<NamedBlob>& blobs) {
  while (open_.size() > depth + 1) {
    const Digest digest = AppendBlob(EncodeLinkedDirectory(open_.back().directory), blobs);
    const std::string_view name = open_.back().name;
    open_.pop_back();
    open_.back().directory.directories.push_back({std::string(name), digest});
  }
}

StaticTree BuildStaticTree(std::vector<StaticEntry> entries, const FoldPath& fold,
                           std::vector<NamedBlob>& blobs) {
  StaticTreeBuild build(std::move(entries), fold);
  while (build.Step(SIZE_MAX, blobs)) {
  }
  return build.Take();
}

std::vector<StaticConflict> ConflictsOf(const StaticTree& tree, const FoldPath& fold) {
  std::vector<tree::TreeFile> outputs;
  for (const StaticEntry& entry : tree.hidden) {
    if (!entry.is_more()) outputs.push_back({.path = entry.path, .digest = Digest()});
  }
  std::vector<StaticConflict> conflicts;
  for (tree::Conflict& conflict : tree::BuildTree(outputs, fold).conflicts) {
    conflicts.push_back(
        {outputs[conflict.first].path, outputs[conflict.second].path, std::move(conflict.reason)});
  }
  return conflicts;
}

}  // namespace galley::devices
