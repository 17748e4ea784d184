// Looker: the cookers' descriptions of files of the tree (`galley-worker describe --look`).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace galley::init {

// The use of a texture, by the slot of a material.
enum class TextureUse { kColor, kNormal, kData };

struct GltfImage {
  std::string path;  // decoded, as written: relative to the file
  TextureUse use = TextureUse::kColor;
};

struct Look {
  bool takes = false;                   // the cooker takes the file
  std::string reason;                   // why not, in a few words, equal for files that are alike
  std::vector<std::string> references;  // as written
  std::vector<std::string> reads;       // files that are read with it, as written
  std::vector<std::string> includes;    // an outline of a shader's text: as written
  std::vector<GltfImage> images;        // a glTF's image files, once for each use
  // The pixels of an image: color, grey, normal, like-normal, two-channel-normal. "": not decoded,
  // as in an outline.
  std::string pixels;
  uint64_t width = 0, height = 0;  // an image's; 0: not known
  bool has_alpha = false;          // in an outline: it may have alpha
  bool is_grey = false;            // an outline: the file has one channel
  bool has_palette = false;        // an outline
  bool is_flat = false;            // few colours in areas with hard edges; not in an outline
  int channel_bits = 8;
  bool has_main = false;          // an outline of a shader's text
  bool needs_late_spirv = false;  // a shader needs SPIR-V 1.4; not in an outline
};

struct LookAsk {
  std::vector<std::string> paths;  // in the tree, in the order in which they are looked at
  std::string cooker = {};         // "texture"; "": by the extension of each file
  std::string settings = "{}";     // JSON, over the defaults of `cooker`
  std::vector<std::pair<std::string, std::string>> mounts = {};  // virtual path, folder in the tree
  // First bytes and texts only: nothing is decoded or compiled.
  bool is_outline = false;
};

class Looker {
 public:
  virtual ~Looker() = default;
  // Returns the looks by path. A file without an answer is absent: the cooker crashed, or there was
  // no time.
  virtual std::map<std::string, Look> LookAt(const LookAsk& ask) = 0;
};

}  // namespace galley::init
