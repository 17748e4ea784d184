// JudgeFile: what is to be done with a file, by its name and its bytes, without a look at others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "director/cli/init/decision.h"
#include "director/cli/init/file_bytes.h"
#include "director/cli/init/survey.h"
#include "director/cli/init/tree.h"

namespace galley::init {

struct Judged {
  File file;
  Decision decision;
  std::string shader_text;              // of a shader or what shaders may include, without comments
  std::vector<std::string> references;  // JSON: as written
  std::vector<std::string> buffers;     // glTF: as written, percent escapes decoded
  std::vector<GltfImage> images;        // glTF
  bool is_pointer = false;              // of Git LFS: the name alone says what it is
  bool is_grey = false;                 // an image of one channel
  std::optional<ImageSize> image_size;
  bool cannot_be_normals = false;  // an image that is no normal map
};

// Reads at most what it must: of an image or a sound the head, of JSON and shaders all, up to
// limits (64 MiB, 1 MiB) beyond which only the extension counts.
Judged JudgeFile(const Tree& tree, const File& file);

// Texts that a shader may include.
bool MayBeIncluded(const std::string& path);

}  // namespace galley::init
