// FindDataImages: images that hold data for the game's code, such as the ground of a map or its
// heights. A lossy format spoils data, and mips are useless. Pure.
//
// A single image proves nothing: pixel art has few colours with hard edges, too. Certain grids of
// data are images that many folders have under one name (`ground.png`, `ground.tga`), in different
// sizes and mostly with flat colours: each level has its grid. Certain as well are images of one
// name that are mostly grey or flat and have the size of a grid in the same folder, such as the
// heights of the ground, and other forms of a grid in its folder, such as `ground-wet.png`.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "director/cli/init/judge_file.h"
#include "director/cli/init/looker.h"

namespace galley::init {

// The settings that keep all values, against the rule for other images.
inline constexpr std::string_view kDataSettings =
    "format = \"rgba8\", color_space = \"linear\", mipmaps = false, max_size = 0";

// Images that many folders have under one name, in different sizes: name without its extension ->
// images. These images should be looked at.
std::map<std::string, std::vector<const Judged*>> FindFilesOfLevels(
    const std::vector<const Judged*>& images);

struct DataImages {
  std::set<std::string> certain;  // paths
  // Larger images, not JPEG, that have flat colours, or are grey with 16 bits, or are grey squares
  // with sides of a power of two plus one, like grids of heights.
  std::set<std::string> doubtful;
};

// `looks`: by path; an image without a look is judged by the images of the same name.
DataImages FindDataImages(const std::vector<const Judged*>& images,
                          const std::map<std::string, Look>& looks);

}  // namespace galley::init
