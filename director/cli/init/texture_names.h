// FindTextureUses: which images are normal maps or masks, by the ends of their names. Pure.
//
// An ambiguous ending counts only beside a sibling: `wall_n.png` beside `wall.png` or `wall_d.png`
// is a normal map, and `arrow_n.png` beside `arrow_e.png` and `arrow_w.png` is not;
// `button_normal.png` beside `button_hover.png` is a button. If most images with a longer mask
// ending ("_gloss") have siblings, the ending counts in the whole tree.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "director/cli/init/judge_file.h"

namespace galley::init {

enum class NamedUse {
  kNormal,  // directions of a surface
  kMask,    // a single quantity: roughness, height
  kPacked,  // a quantity in each channel: occlusion, roughness and metal
};

struct NamedTexture {
  NamedUse use = NamedUse::kNormal;
  std::string ending;        // the end of the name without extension: "_Normal"
  bool must_be_one = false;  // a picture unless grey without alpha: "door_metal"
};

// By path; images without such a name are absent. `images`: all images for the texture cooker.
std::map<std::string, NamedTexture> FindTextureUses(const std::vector<const Judged*>& images);

}  // namespace galley::init
