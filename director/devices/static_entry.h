// StaticEntry: an entry of the folder `static`, and the entries that a package has there.
//
// A package shows what is known of it before it is cooked: a small copied file as it is; else a
// link for each output that a cook always makes. Where a cook may make more, `<package>.d` is a
// link to the folder of further outputs; where it may generate packages, `<package>/_gen` is a link
// to the list of them (generated_list.h).
// Threads: none; pure functions.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/digest.h"
#include "common/record/output_names.h"
#include "director/devices/node_path.h"

namespace galley::devices {

// Folds a name or path for comparison without case and Unicode form (content::FoldName).
using FoldPath = std::function<std::string(std::string_view)>;

// Larger copied files are links, so that opening a session hashes no large file.
inline constexpr uint64_t kStaticFileBytesMax = 1 << 20;

struct StaticFile {
  Digest digest;
  bool is_executable = false;
  auto operator<=>(const StaticFile&) const = default;
};

struct StaticLink {
  LinkEnd end;
  // The link leads to what only a cook tells: the folder of further outputs, or the list of what is
  // generated. It gives way to everything else that wants its name.
  bool is_more = false;
  auto operator<=>(const StaticLink&) const = default;
};

struct StaticEntry {
  std::string path;  // below `static`: "Game/a.png.ktx2"
  std::variant<StaticFile, StaticLink> shown;
  auto operator<=>(const StaticEntry&) const = default;

  bool is_more() const {
    const auto* link = std::get_if<StaticLink>(&shown);
    return link != nullptr && link->is_more;
  }
};

// ShownPackage: a package as a world shows it. Packages that are judged away (case twins, names
// that the platform cannot have, LFS pointers, never-cook) and generated packages are not shown.
struct ShownPackage {
  std::string package;          // virtual path
  std::string stage_path;       // "Game/a.png"
  record::OutputNames outputs;  // on the tree's platform
  // The bytes of a package of the cooker `copy`; nullopt: another cooker, or a file that is larger
  // than kStaticFileBytesMax and was not hashed.
  std::optional<StaticFile> file;
};

// True for "<name>.d" and "_gen": a link of such a name is StaticLink::is_more, unless it leads to
// an output of this very name (StaticTree::outputs_named_more).
bool IsNamedMore(std::string_view name);

// Appends the package's entries, in no order. A path that is too long for a tree (path_limits.h,
// tree::kTreeDepthMax) has no entry: a cook by the book fails such a package. REQUIRES: paths are
// plain, and a package with `file` has one output.
void AppendStaticEntries(const ShownPackage& package, std::vector<StaticEntry>& entries);

}  // namespace galley::devices
