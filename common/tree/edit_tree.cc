#include "common/tree/edit_tree.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "common/base/status_macros.h"

namespace galley::tree {
namespace {

struct Edit {
  std::string_view rest;            // of the path, below the folder
  const TreeFile* added = nullptr;  // null: it is removed
  bool is_new = false;              // added where no file was
};
using Edits = std::vector<Edit>;

absl::Status Cannot(std::string_view what, std::string_view name) {
  return absl::FailedPreconditionError(std::string(what) + " " + std::string(name));
}

class Editor {
 public:
  Editor(const ReadBlob& read, const std::function<std::string(std::string_view)>& fold)
      : read_(read), fold_(fold) {}

  // nullopt: nothing is left of the folder.
  absl::StatusOr<std::optional<Digest>> Apply(const std::optional<Digest>& folder,
                                              const Edits& edits, size_t depth) {
    if (depth > kTreeDepthMax) return absl::InvalidArgumentError("the tree is too deep");
    Directory directory;
    if (folder) {
      ASSIGN_OR_RETURN(const Blob bytes, read_(*folder));
      ASSIGN_OR_RETURN(directory, DecodeDirectory(*bytes));
    }
    absl::flat_hash_set<std::string_view> removed;
    std::vector<const TreeFile*> added;
    std::map<std::string_view, Edits> below;
    for (const Edit& edit : edits) {
      const size_t slash = edit.rest.find('/');
      if (slash != std::string_view::npos) {
        below[edit.rest.substr(0, slash)].push_back(
            {edit.rest.substr(slash + 1), edit.added, edit.is_new});
      } else if (edit.added == nullptr) {
        removed.insert(edit.rest);
      } else {
        added.push_back(edit.added);
      }
    }
    const size_t files_before = directory.files.size();
    std::set<std::string, std::less<>>
        fresh;  // names of what is new, or has something new below it
    std::erase_if(directory.files,
                  [&](const FileNode& file) { return removed.contains(file.name); });
    if (files_before - directory.files.size() != removed.size())
      return Cannot("the tree lacks one of the files that are removed, as", *removed.begin());
    for (const auto& [name, inner] : below) {
      RETURN_IF_ERROR(ApplyBelow(std::string(name), inner, depth, directory, fresh));
    }
    for (const TreeFile* file : added) {
      std::string name = file->path.substr(file->path.rfind('/') + 1);
      if (!removed.contains(name)) fresh.insert(name);
      directory.files.push_back({std::move(name), file->digest, file->is_executable});
    }
    if (!fresh.empty()) RETURN_IF_ERROR(CheckNames(directory, fresh));
    if (depth > 0 && directory.files.empty() && directory.directories.empty()) return std::nullopt;
    const auto by_name = [](const auto& a, const auto& b) { return a.name < b.name; };
    std::ranges::sort(directory.files, by_name);
    std::ranges::sort(directory.directories, by_name);
    const auto twice = std::ranges::adjacent_find(
        directory.files, [](const FileNode& a, const FileNode& b) { return a.name == b.name; });
    if (twice != directory.files.end()) return Cannot("two files want one name,", twice->name);
    std::string bytes = EncodeDirectory(directory);
    const Digest digest = Digest::Of(bytes);
    directories_.try_emplace(digest, std::move(bytes));
    return digest;
  }

  std::map<Digest, std::string> TakeDirectories() { return std::move(directories_); }

 private:
  absl::Status ApplyBelow(const std::string& name, const Edits& edits, size_t depth,
                          Directory& directory, std::set<std::string, std::less<>>& fresh) {
    const auto at = std::ranges::find_if(
        directory.directories, [&](const DirectoryNode& one) { return one.name == name; });
    const bool was_there = at != directory.directories.end();
    ASSIGN_OR_RETURN(const std::optional<Digest> edited,
                     Apply(was_there ? std::optional(at->digest) : std::nullopt, edits, depth + 1));
    if (was_there && edited) {
      at->digest = *edited;
    } else if (was_there) {
      directory.directories.erase(at);
    } else if (edited) {
      directory.directories.push_back({name, *edited});
    }
    if (std::ranges::any_of(edits, [](const Edit& edit) { return edit.is_new; }))
      fresh.insert(name);
    return absl::OkStatus();
  }

  // A new name must differ from all others in more than case and Unicode form.
  absl::Status CheckNames(const Directory& directory,
                          const std::set<std::string, std::less<>>& fresh) const {
    std::map<std::string, size_t> count;
    for (const FileNode& file : directory.files) ++count[fold_(file.name)];
    for (const DirectoryNode& one : directory.directories) ++count[fold_(one.name)];
    for (const std::string& name : fresh) {
      if (count[fold_(name)] > 1) return Cannot("another name is like the new one", name);
    }
    return absl::OkStatus();
  }

  const ReadBlob& read_;
  const std::function<std::string(std::string_view)>& fold_;
  std::map<Digest, std::string> directories_;
};

}  // namespace

absl::StatusOr<EditedTree> EditTree(const Digest& root, const std::vector<std::string>& removed,
                                    const std::vector<TreeFile>& added, const ReadBlob& read,
                                    const std::function<std::string(std::string_view)>& fold) {
  Edits edits;
  edits.reserve(removed.size() + added.size());
  const absl::flat_hash_set<std::string_view> gone(removed.begin(), removed.end());
  for (const std::string& path : removed) edits.push_back({path, nullptr, false});
  for (const TreeFile& file : added) edits.push_back({file.path, &file, !gone.contains(file.path)});
  Editor editor(read, fold);
  ASSIGN_OR_RETURN(const std::optional<Digest> edited, editor.Apply(root, edits, 0));
  return EditedTree{.root = *edited, .directories = editor.TakeDirectories()};
}

}  // namespace galley::tree
