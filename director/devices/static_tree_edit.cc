// EditStaticTree. Entries that may change places are in a pool: the hidden ones, and the added
// ones. Each pooled entry that an edit can affect is judged anew: against the pool, and against
// the entries that the tree shows. Then the folders on the paths of all that is shown or hidden now
// are rewritten.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "director/devices/path_order.h"
#include "director/devices/shown_folders.h"
#include "director/devices/static_tree.h"

namespace galley::devices {
namespace {

struct Pooled {
  StaticEntry entry;
  bool is_judged = false;  // the edit can affect whether the entry is shown
  bool is_shown = false;   // the judgement
};
using Pool = std::multimap<std::string, Pooled>;  // by folded path

EntryShape ShapeOf(const Pool::value_type& pooled) {
  return {pooled.first, pooled.second.entry.is_more()};
}

// Calls `visit` with each pooled entry at, above or below `folded`.
template <typename Visit>
void ForEachNear(Pool& pool, const std::string& folded, const Visit& visit) {
  for (size_t slash = folded.find('/'); slash != std::string::npos;
       slash = folded.find('/', slash + 1)) {
    const auto above = pool.equal_range(folded.substr(0, slash));
    for (auto at = above.first; at != above.second; ++at) visit(*at);
  }
  const auto equal = pool.equal_range(folded);
  for (auto at = equal.first; at != equal.second; ++at) visit(*at);
  for (auto at = pool.lower_bound(folded + "/"); at != pool.end() && LiesBelow(at->first, folded);
       ++at) {
    visit(*at);
  }
}

// Pairs of entries whose path and kind stay: the second takes the place of the first, shown or
// hidden.
using Replaced = std::vector<std::pair<StaticEntry, StaticEntry>>;

// Takes from both sorted lists the entries that stay as they are, and the pairs that only have
// another content.
Replaced TakeReplaced(std::vector<StaticEntry>& removed, std::vector<StaticEntry>& added) {
  std::vector<StaticEntry> gone, fresh;
  std::ranges::set_difference(removed, added, std::back_inserter(gone));
  std::ranges::set_difference(added, removed, std::back_inserter(fresh));
  const auto key = [](const StaticEntry& entry) { return std::pair(entry.path, entry.is_more()); };
  const auto by_key = [&](const auto& a, const auto& b) { return key(a) < key(b); };
  std::ranges::stable_sort(gone, by_key);
  std::ranges::stable_sort(fresh, by_key);
  removed.clear();
  added.clear();
  Replaced replaced;
  auto out = gone.begin();
  for (StaticEntry& entry : fresh) {
    while (out != gone.end() && key(*out) < key(entry)) removed.push_back(std::move(*out++));
    if (out != gone.end() && key(*out) == key(entry)) {
      replaced.emplace_back(std::move(*out++), std::move(entry));
    } else {
      added.push_back(std::move(entry));
    }
  }
  std::move(out, gone.end(), std::back_inserter(removed));
  return replaced;
}

class StaticEditor {
 public:
  StaticEditor(const StaticTree& before, const tree::ReadBlob& read, const FoldPath& fold)
      : named_more_before_(before.outputs_named_more.begin(), before.outputs_named_more.end()),
        named_more_(named_more_before_),
        root_(before.root),
        fold_(fold),
        folders_(root_, named_more_before_, read, fold) {
    for (const StaticEntry& entry : before.hidden) pool_.emplace(fold_(entry.path), Pooled{entry});
  }

  absl::StatusOr<StaticTree> Edit(std::vector<StaticEntry> removed, std::vector<StaticEntry> added,
                                  std::vector<NamedBlob>& blobs) {
    std::ranges::sort(removed);
    std::ranges::sort(added);
    for (auto& [before, after] : TakeReplaced(removed, added)) Replace(before, std::move(after));
    for (const StaticEntry& entry : removed) Remove(entry);
    for (StaticEntry& entry : added) {
      std::string folded = fold_(entry.path);
      pool_.emplace(std::move(folded), Pooled{.entry = std::move(entry), .is_judged = true});
    }
    for (auto& pooled : pool_) {
      if (pooled.second.is_judged) RETURN_IF_ERROR(Judge(pooled));
    }
    MovePooled();
    if (edits_.empty()) return Result(root_);
    ASSIGN_OR_RETURN(const std::optional<Digest> root,
                     Rewrite(root_, edits_.begin(), edits_.end(), "", blobs));
    return Result(root.value_or(Digest()));
  }

 private:
  using Edits = std::map<std::string, std::optional<StaticEntry>>;

  // False: it is not among the hidden entries.
  bool TakeHidden(const StaticEntry& entry) {
    const auto equal = pool_.equal_range(fold_(entry.path));
    const auto at = std::find_if(equal.first, equal.second,
                                 [&](const auto& one) { return one.second.entry == entry; });
    if (at == equal.second) return false;
    pool_.erase(at);
    return true;
  }

  void Replace(const StaticEntry& before, StaticEntry after) {
    if (TakeHidden(before)) {
      std::string folded = fold_(after.path);
      pool_.emplace(std::move(folded), Pooled{std::move(after)});
      return;
    }
    expected_.emplace(before.path, before);
    edits_[before.path] = std::move(after);
  }

  void Remove(const StaticEntry& entry) {
    if (!TakeHidden(entry)) {
      expected_.emplace(entry.path, entry);
      edits_[entry.path] = std::nullopt;
      removed_.insert(entry.path);
    }
    const std::string folded = fold_(entry.path);
    const EntryShape shape{folded, entry.is_more()};
    ForEachNear(pool_, folded, [&](Pool::value_type& near) {
      if (Hides(shape, ShapeOf(near))) near.second.is_judged = true;
    });
  }

  absl::Status Judge(Pool::value_type& pooled) {
    bool is_shown = true;
    const EntryShape shape = ShapeOf(pooled);
    ForEachNear(pool_, pooled.first, [&](Pool::value_type& near) {
      if (&near != &pooled && Hides(ShapeOf(near), shape)) is_shown = false;
    });
    // A link to further outputs needs to know of one entry below only, which stays.
    const size_t below_max = shape.is_more ? removed_.size() + 1 : SIZE_MAX;
    std::vector<ShownFolders::Seen> seen;
    RETURN_IF_ERROR(folders_.Find(pooled.first, below_max, seen));
    for (const ShownFolders::Seen& near : seen) {
      if (removed_.contains(near.entry.path)) continue;
      const std::string folded = fold_(near.entry.path);
      const EntryShape other{folded, near.entry.is_more()};
      if (Hides(other, shape)) is_shown = false;
      if (Hides(shape, other)) to_hide_.insert_or_assign(near.entry.path, near.entry);
    }
    pooled.second.is_shown = is_shown;
    return absl::OkStatus();
  }

  // Hidden entries go from the tree into the pool, then shown ones from the pool into the tree: a
  // shown one may take the path of a hidden one.
  void MovePooled() {
    for (auto& [path, entry] : to_hide_) {
      std::optional<StaticEntry>& edit = edits_[path];
      StaticEntry hidden = edit ? *std::move(edit) : std::move(entry);
      edit = std::nullopt;
      std::string folded = fold_(path);
      pool_.emplace(std::move(folded), Pooled{std::move(hidden)});
    }
    for (auto at = pool_.begin(); at != pool_.end();) {
      if (!at->second.is_shown) {
        ++at;
        continue;
      }
      edits_[at->second.entry.path] = at->second.entry;
      at = pool_.erase(at);
    }
  }

  // Rewrites the folder at `folder_path` ("" or "a/b/") by the edits below it. nullopt: nothing is
  // left of it.
  absl::StatusOr<std::optional<Digest>> Rewrite(const Digest& digest, Edits::iterator first,
                                                Edits::iterator last,
                                                const std::string& folder_path,
                                                std::vector<NamedBlob>& blobs) {
    ASSIGN_OR_RETURN(const tree::LinkedDirectory* const before, folders_.Read(digest));
    tree::LinkedDirectory after = *before;
    std::set<std::string, std::less<>> edited;
    std::vector<const StaticEntry*> placed;
    while (first != last) {
      const std::string_view rest = std::string_view(first->first).substr(folder_path.size());
      const size_t slash = rest.find('/');
      if (slash != std::string_view::npos) {
        const std::string name(rest.substr(0, slash));
        const std::string below = folder_path + name + "/";
        const auto end = std::find_if(
            first, last, [&](const auto& edit) { return !edit.first.starts_with(below); });
        RETURN_IF_ERROR(RewriteBelow(after, name, first, end, below, blobs));
        first = end;
        continue;
      }
      RETURN_IF_ERROR(CheckExpected(*before, folder_path, rest));
      edited.emplace(rest);
      if (first->second) placed.push_back(&*first->second);
      ++first;
    }
    const auto is_edited = [&](const auto& node) { return edited.contains(node.name); };
    std::erase_if(after.files, is_edited);
    std::erase_if(after.links, is_edited);
    for (const StaticEntry* entry : placed) Place(*entry, after);
    return Sealed(std::move(after), blobs);
  }

  absl::Status RewriteBelow(tree::LinkedDirectory& folder, const std::string& name,
                            Edits::iterator first, Edits::iterator last, const std::string& path,
                            std::vector<NamedBlob>& blobs) {
    const auto at = std::ranges::find(folder.directories, name, &tree::DirectoryNode::name);
    const bool was_there = at != folder.directories.end();
    ASSIGN_OR_RETURN(const std::optional<Digest> digest,
                     Rewrite(was_there ? at->digest : Digest(), first, last, path, blobs));
    if (was_there && digest) {
      at->digest = *digest;
    } else if (was_there) {
      folder.directories.erase(at);
    } else if (digest) {
      folder.directories.push_back({name, *digest});
    }
    return absl::OkStatus();
  }

  // FAILED_PRECONDITION: the tree does not have what is removed or replaced there.
  absl::Status CheckExpected(const tree::LinkedDirectory& folder, const std::string& folder_path,
                             std::string_view name) const {
    const auto expected = expected_.find(folder_path + std::string(name));
    if (expected == expected_.end()) return absl::OkStatus();
    const absl::StatusOr<StaticEntry> entry = folders_.EntryOf(folder, folder_path, name);
    if (entry.ok() && *entry == expected->second) return absl::OkStatus();
    return FailedPreconditionError("static lacks an entry that is removed, {}", expected->first);
  }

  void Place(const StaticEntry& entry, tree::LinkedDirectory& folder) {
    const std::string name(LastName(entry.path));
    if (const auto* file = std::get_if<StaticFile>(&entry.shown)) {
      folder.files.push_back({name, file->digest, file->is_executable});
    } else {
      folder.links.push_back({name, LinkTarget(entry.path, std::get<StaticLink>(entry.shown).end)});
    }
  }

  static std::optional<Digest> Sealed(tree::LinkedDirectory folder, std::vector<NamedBlob>& blobs) {
    if (folder.files.empty() && folder.directories.empty() && folder.links.empty())
      return std::nullopt;
    std::ranges::sort(folder.files, {}, &tree::FileNode::name);
    std::ranges::sort(folder.directories, {}, &tree::DirectoryNode::name);
    std::ranges::sort(folder.links, {}, &tree::LinkNode::name);
    return AppendBlob(tree::EncodeLinkedDirectory(folder), blobs);
  }

  StaticTree Result(const Digest& root) {
    for (const auto& [path, edit] : edits_) {
      named_more_.erase(path);
      const bool is_output_link =
          edit && std::holds_alternative<StaticLink>(edit->shown) && !edit->is_more();
      if (is_output_link && IsNamedMore(LastName(path))) named_more_.insert(path);
    }
    StaticTree tree{.root = root};
    std::vector<std::tuple<std::string, StaticEntry>> hidden;
    for (auto& [folded, pooled] : pool_) hidden.emplace_back(folded, std::move(pooled.entry));
    std::ranges::sort(hidden, [](const auto& a, const auto& b) {
      const int order = ComparePaths(std::get<0>(a), std::get<0>(b));
      return order != 0 ? order < 0 : std::get<1>(a) < std::get<1>(b);
    });
    for (auto& [folded, entry] : hidden) tree.hidden.push_back(std::move(entry));
    tree.outputs_named_more.assign(named_more_.begin(), named_more_.end());
    return tree;
  }

  const std::set<std::string> named_more_before_;
  std::set<std::string> named_more_;
  const Digest root_;
  const FoldPath& fold_;
  ShownFolders folders_;
  Pool pool_;
  Edits edits_;                                  // by path: what is shown there now, if anything
  std::map<std::string, StaticEntry> expected_;  // what the tree shows at edited paths
  std::set<std::string> removed_;                // paths that the tree shows, and that go
  std::map<std::string, StaticEntry> to_hide_;   // by path
};

}  // namespace

absl::StatusOr<StaticTree> EditStaticTree(const StaticTree& before,
                                          std::vector<StaticEntry> removed,
                                          std::vector<StaticEntry> added,
                                          const tree::ReadBlob& read, const FoldPath& fold,
                                          std::vector<NamedBlob>& blobs) {
  return StaticEditor(before, read, fold).Edit(std::move(removed), std::move(added), blobs);
}

}  // namespace galley::devices
