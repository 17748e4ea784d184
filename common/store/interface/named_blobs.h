// Which blobs have to be present for a result to be used: its outputs and the sources of what it
// generated. A lost log loses nothing.
#pragma once

#include <vector>

#include "common/base/digest.h"
#include "common/record/result.h"

namespace galley::store {

inline void AppendNamedBlobs(const record::Result& result, std::vector<Digest>& blobs) {
  for (const record::Output& output : result.outputs) blobs.push_back(output.digest);
  for (const record::Generated& generated : result.details.generated)
    blobs.push_back(generated.source);
}

}  // namespace galley::store
