// Looker: what the cookers say about files of the tree (`galley-worker describe --look`).
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace galley::init {

struct Look {
  bool takes = false;   // the cooker takes the file
  std::string why_not;  // its words when it does not
  // Of an image:
  std::string pixels;  // color, grey, normal, like-normal, two-channel-normal
  bool has_alpha = false;
  bool is_flat = false;  // few colours in areas with hard edges
  int channel_bits = 8;
};

struct LookAsk {
  std::vector<std::string> paths;  // in the tree, in the order in which they are looked at
  std::string cooker;              // "texture"
  std::string settings = "{}";     // JSON, over the cooker's defaults
  std::vector<std::pair<std::string, std::string>> mounts;  // virtual path, folder in the tree
};

class Looker {
 public:
  virtual ~Looker() = default;
  // By path. A file that no answer came for is absent: the cooker crashed, or there was no time.
  virtual std::map<std::string, Look> LookAt(const LookAsk& ask) = 0;
};

}  // namespace galley::init
