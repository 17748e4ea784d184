// ComputeDevice: runs compute shaders on lavapipe, Mesa's Vulkan driver for the processor.
#pragma once

#include <vulkan/vulkan.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace galley::worker {

// Has two storage buffers in set 0: shaders read binding 0 and write binding 1.
//
// Threads: one at a time.
class ComputeDevice {
 public:
  // `words`: the most words of each buffer. NOT_FOUND: no Vulkan, or no device that is a processor;
  // the message says which.
  static absl::StatusOr<std::unique_ptr<ComputeDevice>> Create(size_t words);
  ~ComputeDevice();
  ComputeDevice(const ComputeDevice&) = delete;
  ComputeDevice& operator=(const ComputeDevice&) = delete;

  // Runs a work group of `main`, and returns binding 1, which is all 0 before. INTERNAL: the driver
  // refused something.
  absl::StatusOr<std::vector<uint32_t>> Run(const std::vector<uint32_t>& module,
                                            const std::vector<uint32_t>& input);

 private:
  struct Buffer {
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    uint32_t* words = nullptr;  // as the host sees the memory
  };
  ComputeDevice() = default;
  absl::Status CreateDevice();
  absl::Status CreateBuffer(Buffer& buffer) const;
  absl::Status CreateLayout();
  absl::Status CreateCommands();
  absl::Status Dispatch(VkPipeline pipeline);

  size_t words_ = 0;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  Buffer input_;
  Buffer output_;
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkDescriptorPool sets_ = VK_NULL_HANDLE;
  VkDescriptorSet set_ = VK_NULL_HANDLE;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
};

}  // namespace galley::worker
