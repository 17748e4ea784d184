// The order of paths in a tree, and when one entry of `static` hides another.
//
// Threads: none; pure functions.
#pragma once

#include <string_view>

namespace galley::devices {

// Compares name by name: '/' comes before all other bytes, so that what is in a folder follows the
// folder's own path. Negative, 0 or positive.
int ComparePaths(std::string_view a, std::string_view b);

// True when `path` lies in the folder `folder`, however deep.
bool LiesBelow(std::string_view path, std::string_view folder);

// EntryShape: a folded path, and whether the entry is a link to further outputs
// (StaticLink::is_more).
struct EntryShape {
  std::string_view folded;
  bool is_more = false;
};

// True when `other` takes the place of `entry`, which is then not shown:
//   - two outputs with one folded path, or one below the other, hide each other: both packages fail
//     in a cook by the book;
//   - a link to further outputs is hidden by everything with its folded path or below it, and by an
//     output above it. It hides nothing but other links to further outputs.
bool Hides(const EntryShape& other, const EntryShape& entry);

}  // namespace galley::devices
