// FindDataImages: images that hold data for the game's own code (the ground of a map, its heights),
// which a lossy format spoils and mips serve for nothing. Pure.
//
// An image alone cannot prove it: pixel art has few colours with hard edges, too. Certain is what
// many folders have under one name (`ground.png`, `ground.tga`), in sizes that differ from folder
// to folder, and mostly with flat colours: each level has its grid. Certain as well are names whose
// images are grey or flat and have the size of the grid beside them (the heights of the same
// ground), and other forms of a grid beside it: `ground-wet.png`.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "director/cli/init/judge_file.h"
#include "director/cli/init/looker.h"

namespace galley::init {

// The settings that keep all values, whatever the rule for other images says.
inline constexpr std::string_view kDataSettings =
    "format = \"rgba8\", color_space = \"linear\", mipmaps = false, max_size = 0";

// Images that many folders have under one name, in different sizes: name without its extension ->
// images. They are worth a look.
std::map<std::string, std::vector<const Judged*>> FindFilesOfLevels(
    const std::vector<const Judged*>& images);

struct DataImages {
  std::set<std::string> certain;  // paths
  // Flat ones of some size, grey ones of 16 bits, or of sides that are a power of two and one, as
  // grids of heights have.
  std::set<std::string> doubtful;
};

// `looks`: by path; what was not looked at is judged by those of its name.
DataImages FindDataImages(const std::vector<const Judged*>& images,
                          const std::map<std::string, Look>& looks);

}  // namespace galley::init
