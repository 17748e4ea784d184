#include "common/vfs/session_tree.h"

#include <algorithm>
#include <utility>

#include "common/vfs/folder.h"

namespace galley::vfs {
namespace {

constexpr std::string_view kListName = "_gen";

std::string InStatic(std::string_view path) {
  return path.empty() ? "static" : "static/" + std::string(path);
}

std::string NodeFolder(const std::string& node) {
  return "resource/" + node.substr(0, 2) + "/" + node.substr(2, 2) + "/" + node;
}

std::string_view LastName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// True: `text` begins with `name`, as a whole or before one of the characters.
bool BeginsWithName(std::string_view text, std::string_view name, std::string_view ends) {
  return text.starts_with(name) &&
         (text.size() == name.size() || ends.find(text[name.size()]) != std::string_view::npos);
}

// A link of this name leads to what only a cook tells, and then to a folder.
bool IsNamedFolder(std::string_view path) {
  const std::string_view name = LastName(path);
  return name.ends_with(".d") || name == kListName;
}

// The path up to its first segment `_gen`, with it. Empty: there is none.
std::string PathOfList(const std::string& path) {
  for (size_t at = path.find("/_gen"); at != std::string::npos; at = path.find("/_gen", at + 1)) {
    const size_t end = at + 1 + kListName.size();
    if (end == path.size() || path[end] == '/') return path.substr(0, end);
  }
  return {};
}

// "Game/town.level" of "Game/town.level/_gen".
std::string_view GeneratorOf(std::string_view list) {
  return list.substr(0, list.size() - kListName.size() - 1);
}

// The path to ask for where a generated package is not cooked.
std::string AskFor(const GeneratedPackage& package) { return package.path + ".d"; }

Fault NotReadable() { return {GALLEY_VFS_DAMAGED, "a folder of the tree cannot be read"}; }

void SortByName(ShownListing& listing) {
  std::ranges::sort(listing.entries, {}, &ShownEntry::name);
  const auto is_same = [](const ShownEntry& a, const ShownEntry& b) { return a.name == b.name; };
  listing.entries.erase(std::unique(listing.entries.begin(), listing.entries.end(), is_same),
                        listing.entries.end());
}

}  // namespace

// ------------------------------------------------------------------ one path

Result<ShownPath> SessionTree::Find(const std::string& path) const {
  const std::string list = PathOfList(path);
  if (!list.empty()) {
    const Result<PathEntry> at = Follow(InStatic(list));
    if (!at.ok()) return at.fault();
    if (const auto* const file = std::get_if<FileAt>(&*at)) {
      const Result<Packages> packages = ReadList(file->blob, GeneratorOf(list));
      if (!packages.ok()) return packages.fault();
      if (path == list) return ShownPath(ShownFolder{});
      return FindGenerated(*packages, path);
    }
  }
  const Result<PathEntry> at = Follow(InStatic(path));
  if (!at.ok()) return at.fault();
  if (const auto* const file = std::get_if<FileAt>(&*at)) return ShownPath(*file);
  if (std::holds_alternative<FolderAt>(*at)) return ShownPath(ShownFolder{});
  if (std::holds_alternative<NotCooked>(*at))
    return ShownPath(NotCookedAt{.is_folder = IsNamedFolder(path)});
  // The package is cooked, and has nothing there: the folder was listed, and is empty.
  const Result<bool> is_listed = IsLinkToMore(path);
  if (!is_listed.ok()) return is_listed.fault();
  if (*is_listed) return ShownPath(ShownFolder{});
  return ShownPath(NothingAt{});
}

Result<bool> SessionTree::IsLinkToMore(const std::string& path) const {
  if (!IsNamedFolder(path)) return false;
  const size_t slash = path.rfind('/');
  const Result<PathEntry> parent =
      Follow(InStatic(path.substr(0, slash == std::string::npos ? 0 : slash)));
  if (!parent.ok()) return parent.fault();
  const auto* const folder = std::get_if<FolderAt>(&*parent);
  if (folder == nullptr) return false;
  const Result<FolderBytes> bytes = read_(folder->blob);
  if (!bytes.ok()) return bytes.fault();
  const Found found = FindEntry(*bytes, LastName(path));
  return found.entry && found.entry->kind == FolderEntry::Kind::kLink;
}

Result<SessionTree::Packages> SessionTree::ReadList(const BlobId& list,
                                                    std::string_view generator) const {
  const Result<FolderBytes> bytes = read_(list);
  if (!bytes.ok()) return bytes.fault();
  std::optional<Packages> packages = ParseGeneratedList(*bytes);
  const std::string below = std::string(generator) + "/_gen/";
  const auto is_below = [&](const GeneratedPackage& one) { return one.path.starts_with(below); };
  if (!packages || !std::ranges::all_of(*packages, is_below))
    return Fault{GALLEY_VFS_DAMAGED, "a list of generated files cannot be read"};
  return *std::move(packages);
}

Result<ShownPath> SessionTree::FindGenerated(const Packages& packages,
                                             const std::string& path) const {
  ShownPath found = NothingAt{};
  for (const GeneratedPackage& package : packages) {
    if (package.path.starts_with(path + "/")) found = ShownFolder{};
    if (!BeginsWithName(path, package.path, "./")) continue;
    const std::string_view rest = std::string_view(path).substr(package.path.size());
    Result<ShownPath> in_node = FindInNode({.package = package, .rest = rest}, path);
    if (!in_node.ok() || std::holds_alternative<FileAt>(*in_node)) return in_node;
    if (std::holds_alternative<NothingAt>(found)) found = *in_node;
  }
  return found;
}

Result<ShownPath> SessionTree::FindInNode(const OfNode& at, const std::string& path) const {
  const std::string node = NodeFolder(at.package.node);
  const Result<PathEntry> folder = Follow(node);
  if (!folder.ok()) return folder.fault();
  if (!std::holds_alternative<FolderAt>(*folder))
    return ShownPath(NotCookedAt{.is_folder = IsNamedFolder(path), .ask = AskFor(at.package)});
  const bool is_below = at.rest.starts_with('/');
  if (is_below && !BeginsWithName(at.rest.substr(1), kListName, "/")) return ShownPath(NothingAt{});
  if (!is_below) {
    const std::string name = std::string(LastName(at.package.path)) + std::string(at.rest);
    const Result<PathEntry> output = Follow(node + "/" + name);
    if (!output.ok()) return output.fault();
    if (const auto* const file = std::get_if<FileAt>(&*output)) return ShownPath(*file);
    if (std::holds_alternative<FolderAt>(*output)) return ShownPath(ShownFolder{});
    if (!at.rest.empty()) return ShownPath(NothingAt{});
  }
  const Result<PathEntry> list = Follow(node + "/" + std::string(kListName));
  if (!list.ok()) return list.fault();
  const auto* const file = std::get_if<FileAt>(&*list);
  if (file == nullptr) return ShownPath(NothingAt{});
  if (!is_below || at.rest.size() == kListName.size() + 1) return ShownPath(ShownFolder{});
  const Result<Packages> inner = ReadList(file->blob, at.package.path);
  return inner.ok() ? FindGenerated(*inner, path) : inner.fault();
}

// ------------------------------------------------------------------ folders

Result<std::optional<ShownListing>> SessionTree::List(const std::string& folder) const {
  using Listed = std::optional<ShownListing>;
  const std::string list = PathOfList(folder);
  if (!list.empty()) {
    const Result<PathEntry> at = Follow(InStatic(list));
    if (!at.ok()) return at.fault();
    if (const auto* const file = std::get_if<FileAt>(&*at)) {
      const Result<Packages> packages = ReadList(file->blob, GeneratorOf(list));
      if (!packages.ok()) return packages.fault();
      return ListGenerated(*packages, folder);
    }
    if (std::holds_alternative<NotCooked>(*at))
      return Listed(ShownListing{.entries = {}, .asks = {list}});
  }
  const Result<PathEntry> at = Follow(InStatic(folder));
  if (!at.ok()) return at.fault();
  if (const auto* const found = std::get_if<FolderAt>(&*at)) return ListFolder(folder, found->blob);
  if (std::holds_alternative<NotCooked>(*at)) {
    // The director is asked for `a.glb.d`, also where `a.glb.d/x` is listed.
    const size_t further = folder.find(".d/");
    const std::string ask = IsNamedFolder(folder) || further == std::string::npos
                                ? folder
                                : folder.substr(0, further + 2);
    return Listed(ShownListing{.entries = {}, .asks = {ask}});
  }
  if (!std::holds_alternative<NothingAt>(*at)) return Listed();
  const Result<bool> is_listed = IsLinkToMore(folder);
  if (!is_listed.ok()) return is_listed.fault();
  return *is_listed ? Listed(ShownListing{}) : Listed();
}

Result<std::optional<ShownListing>> SessionTree::ListFolder(const std::string& path,
                                                            const BlobId& folder) const {
  const Result<FolderBytes> bytes = read_(folder);
  if (!bytes.ok()) return bytes.fault();
  ShownListing listing;
  const bool is_folder = ForEachEntry(*bytes, [&](const FolderEntry& entry) {
    ShownEntry shown{.name = std::string(entry.name)};
    const bool is_link = entry.kind == FolderEntry::Kind::kLink;
    if (entry.kind == FolderEntry::Kind::kFile) shown.size = static_cast<int64_t>(entry.blob.size);
    shown.is_folder =
        entry.kind == FolderEntry::Kind::kFolder || (is_link && IsNamedFolder(entry.name));
    listing.entries.push_back(std::move(shown));
    return true;
  });
  if (!is_folder) return Fault{GALLEY_VFS_DAMAGED, "the folder " + path + " cannot be read"};
  SortByName(listing);
  return std::optional(std::move(listing));
}

Result<std::optional<ShownListing>> SessionTree::ListGenerated(const Packages& packages,
                                                               const std::string& folder) const {
  ShownListing listing;
  bool is_there = LastName(folder) == kListName;
  for (const GeneratedPackage& package : packages) {
    Outcome failed;
    if (package.path.starts_with(folder + "/")) {
      is_there = true;
      const std::string_view rest = std::string_view(package.path).substr(folder.size() + 1);
      const size_t slash = rest.find('/');
      if (slash == std::string_view::npos) failed = AddOutputs(package, listing);
      if (slash != std::string_view::npos)
        listing.entries.push_back({.name = std::string(rest.substr(0, slash)), .is_folder = true});
    } else if (BeginsWithName(folder, package.path, "./")) {
      const std::string_view rest = std::string_view(folder).substr(package.path.size());
      const size_t before = listing.entries.size() + listing.asks.size();
      failed = AddFolderOfNode({.package = package, .rest = rest}, folder, listing);
      is_there = is_there || listing.entries.size() + listing.asks.size() > before;
    }
    if (failed) return *failed;
  }
  if (!is_there) return std::optional<ShownListing>();
  SortByName(listing);
  return std::optional(std::move(listing));
}

// The package's files beside each other, and the folder of what it generates itself.
Outcome SessionTree::AddOutputs(const GeneratedPackage& package, ShownListing& listing) const {
  const Result<PathEntry> node = Follow(NodeFolder(package.node));
  if (!node.ok()) return node.fault();
  const auto* const folder = std::get_if<FolderAt>(&*node);
  if (folder == nullptr) {
    listing.asks.push_back(AskFor(package));
    return std::nullopt;
  }
  const Result<FolderBytes> bytes = read_(folder->blob);
  if (!bytes.ok()) return bytes.fault();
  const std::string_view name = LastName(package.path);
  const bool is_folder = ForEachEntry(*bytes, [&](const FolderEntry& entry) {
    ShownEntry shown{.name = std::string(entry.name),
                     .is_folder = entry.kind == FolderEntry::Kind::kFolder};
    if (entry.kind == FolderEntry::Kind::kFile) shown.size = static_cast<int64_t>(entry.blob.size);
    const bool is_output = BeginsWithName(entry.name, name, ".");
    if (!is_output && entry.name == kListName)
      shown = {.name = std::string(name), .is_folder = true};
    if (is_output || entry.name == kListName) listing.entries.push_back(std::move(shown));
    return true;
  });
  return is_folder ? std::nullopt : Outcome(NotReadable());
}

// `folder` is the package's own folder, its `.d`, its `_gen`, or lies below one of these.
Outcome SessionTree::AddFolderOfNode(const OfNode& at, const std::string& folder,
                                     ShownListing& listing) const {
  const std::string node = NodeFolder(at.package.node);
  const Result<PathEntry> there = Follow(node);
  if (!there.ok()) return there.fault();
  if (!std::holds_alternative<FolderAt>(*there)) {
    listing.asks.push_back(AskFor(at.package));
    return std::nullopt;
  }
  std::optional<ShownListing> inner;
  if (at.rest.starts_with(".")) {
    const std::string name = std::string(LastName(at.package.path)) + std::string(at.rest);
    const Result<PathEntry> output = Follow(node + "/" + name);
    if (!output.ok()) return output.fault();
    const auto* const found = std::get_if<FolderAt>(&*output);
    if (found == nullptr) return std::nullopt;
    Result<std::optional<ShownListing>> listed = ListFolder(folder, found->blob);
    if (!listed.ok()) return listed.fault();
    inner = *std::move(listed);
  } else {
    const Result<PathEntry> list = Follow(node + "/" + std::string(kListName));
    if (!list.ok()) return list.fault();
    const auto* const file = std::get_if<FileAt>(&*list);
    if (file == nullptr) return std::nullopt;
    if (at.rest.empty()) {
      listing.entries.push_back({.name = std::string(kListName), .is_folder = true});
      return std::nullopt;
    }
    const Result<Packages> packages = ReadList(file->blob, at.package.path);
    if (!packages.ok()) return packages.fault();
    Result<std::optional<ShownListing>> listed = ListGenerated(*packages, folder);
    if (!listed.ok()) return listed.fault();
    inner = *std::move(listed);
  }
  if (!inner) return std::nullopt;
  std::ranges::move(inner->entries, std::back_inserter(listing.entries));
  std::ranges::move(inner->asks, std::back_inserter(listing.asks));
  return std::nullopt;
}

}  // namespace galley::vfs
