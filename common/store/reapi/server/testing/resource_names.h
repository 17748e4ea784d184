// Resource names in the form that clients write.
#pragma once

#include <string>

#include "common/store/reapi/server/resource_name.h"
#include "fmt/format.h"

namespace galley::store {

// Returns the name of a read if upload_id is empty, else of a write.
inline std::string FormatResourceName(const ResourceName& name) {
  return fmt::format("{}{}{}{}{}", name.instance, name.instance.empty() ? "" : "/",
                     name.upload_id.empty() ? "" : fmt::format("uploads/{}/", name.upload_id),
                     name.compressor == Compressor::kZstd ? "compressed-blobs/zstd/" : "blobs/",
                     name.digest.ToString());
}

}  // namespace galley::store
