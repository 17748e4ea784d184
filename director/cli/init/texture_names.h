// FindTextureUses: which images are normal maps or masks, by the ends of their names. Pure.
//
// An end that has other meanings, too, counts only beside a sibling: `wall_n.png` beside `wall.png`
// or `wall_d.png` is a normal map, and `arrow_n.png` beside `arrow_e.png` and `arrow_w.png` is not;
// `button_normal.png` beside `button_hover.png` is a button. Where several images have such a
// sibling, the longer ends ("_gloss") count for all others of the tree as well.
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
  bool must_be_one = false;  // in colours or with alpha it is a picture: "door_metal"
};

// By path; images without such a name are absent. `images`: all that the texture cooker takes.
std::map<std::string, NamedTexture> FindTextureUses(const std::vector<const Judged*>& images);

}  // namespace galley::init
