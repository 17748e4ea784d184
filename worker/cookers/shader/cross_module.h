// CrossModule: a SPIR-V module inside spirv-cross, with its errors as statuses.
//
// Every flaw that spirv-cross finds is INVALID_ARGUMENT with its words: since the module is valid,
// the flaw is the shader's. Want of memory is OUT_OF_RANGE.
// Threads: none.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "spirv_cross/spirv_cross_c.h"

namespace galley::worker {

// "spirv-cross=0.54.0-1c2d3e4f": the version of its interface, which says little, and its build.
std::string SpirvCrossIdentity();

class CrossModule {
 public:
  // `backend`: SPVC_BACKEND_NONE serves reflection alone.
  static absl::StatusOr<CrossModule> Create(const std::vector<uint32_t>& module,
                                            spvc_backend backend);
  CrossModule(CrossModule&& other) noexcept
      : context_(std::exchange(other.context_, nullptr)), compiler_(other.compiler_) {}
  CrossModule& operator=(CrossModule&&) = delete;
  ~CrossModule();

  spvc_compiler compiler() const { return compiler_; }
  // The error that `result` stands for, in the words of spirv-cross.
  absl::Status Check(spvc_result result) const;

  // The declared resources of this type.
  absl::StatusOr<std::vector<spvc_reflected_resource>> Resources(spvc_resource_type type) const;
  // The variables that the entry point's code touches, and, except in fragment shaders, all
  // outputs.
  absl::StatusOr<std::set<uint32_t>> ActiveVariables() const;
  // Leaves inactive variables out of the written text.
  absl::Status KeepOnlyActive();

  absl::StatusOr<bool> HasCapability(SpvCapability capability) const;

  struct Option {
    spvc_compiler_option name;
    unsigned value;  // a bool as 0 or 1
  };
  absl::Status SetOptions(const std::vector<Option>& options);
  absl::StatusOr<std::string> Compile();

 private:
  CrossModule() = default;

  spvc_context context_ = nullptr;  // owns the compiler, too
  spvc_compiler compiler_ = nullptr;
};

// For ESSL and MSL. INVALID_ARGUMENT: the shader draws many views at once.
absl::Status CheckNoMultiview(const CrossModule& module);

}  // namespace galley::worker
