#include "worker/cookers/shader/testing/compute_device.h"

#include <algorithm>
#include <array>

#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::worker {
namespace {

// Mesa gives each of its devices one family of queues, which does everything.
constexpr uint32_t kQueueFamily = 0;

absl::Status Check(VkResult result, std::string_view what) {
  if (result == VK_SUCCESS) return absl::OkStatus();
  return absl::InternalError(fmt::format("{}: VkResult {}", what, static_cast<int>(result)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ComputeDevice>> ComputeDevice::Create(size_t words) {
  std::unique_ptr<ComputeDevice> device(new ComputeDevice);
  device->words_ = words;
  RETURN_IF_ERROR(device->CreateDevice());
  RETURN_IF_ERROR(device->CreateBuffer(device->input_));
  RETURN_IF_ERROR(device->CreateBuffer(device->output_));
  RETURN_IF_ERROR(device->CreateLayout());
  RETURN_IF_ERROR(device->CreateCommands());
  return device;
}

absl::Status ComputeDevice::CreateDevice() {
  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.apiVersion = VK_API_VERSION_1_2;
  VkInstanceCreateInfo instance{};
  instance.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  instance.pApplicationInfo = &application;
  if (vkCreateInstance(&instance, nullptr, &instance_) != VK_SUCCESS)
    return absl::NotFoundError("no Vulkan driver (Debian's mesa-vulkan-drivers has lavapipe)");
  uint32_t count = 0;
  vkEnumeratePhysicalDevices(instance_, &count, nullptr);
  std::vector<VkPhysicalDevice> all(count);
  vkEnumeratePhysicalDevices(instance_, &count, all.data());
  for (const VkPhysicalDevice each : all) {
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(each, &properties);
    if (properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU) physical_ = each;
  }
  if (physical_ == VK_NULL_HANDLE)
    return absl::NotFoundError("no lavapipe (Debian's mesa-vulkan-drivers has it)");
  const float priority = 1;
  VkDeviceQueueCreateInfo queue{};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueFamilyIndex = kQueueFamily;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkDeviceCreateInfo device{};
  device.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  device.queueCreateInfoCount = 1;
  device.pQueueCreateInfos = &queue;
  RETURN_IF_ERROR(Check(vkCreateDevice(physical_, &device, nullptr, &device_), "device"));
  vkGetDeviceQueue(device_, kQueueFamily, 0, &queue_);
  return absl::OkStatus();
}

absl::Status ComputeDevice::CreateBuffer(Buffer& buffer) const {
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = words_ * sizeof(uint32_t);
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  RETURN_IF_ERROR(Check(vkCreateBuffer(device_, &info, nullptr, &buffer.buffer), "buffer"));
  VkMemoryRequirements wanted;
  vkGetBufferMemoryRequirements(device_, buffer.buffer, &wanted);
  VkMemoryAllocateInfo allocate{};
  allocate.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  allocate.allocationSize = wanted.size;
  allocate.memoryTypeIndex = 0;  // lavapipe's only type: visible to the host, and coherent
  RETURN_IF_ERROR(Check(vkAllocateMemory(device_, &allocate, nullptr, &buffer.memory), "memory"));
  RETURN_IF_ERROR(Check(vkBindBufferMemory(device_, buffer.buffer, buffer.memory, 0), "binding"));
  void* mapped = nullptr;
  RETURN_IF_ERROR(
      Check(vkMapMemory(device_, buffer.memory, 0, VK_WHOLE_SIZE, 0, &mapped), "mapping"));
  buffer.words = static_cast<uint32_t*>(mapped);
  return absl::OkStatus();
}

absl::Status ComputeDevice::CreateLayout() {
  std::array<VkDescriptorSetLayoutBinding, 2> bindings{};
  for (uint32_t i = 0; i < bindings.size(); ++i) {
    bindings[i].binding = i;
    bindings[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    bindings[i].descriptorCount = 1;
    bindings[i].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
  }
  VkDescriptorSetLayoutCreateInfo set{};
  set.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
  set.bindingCount = bindings.size();
  set.pBindings = bindings.data();
  RETURN_IF_ERROR(
      Check(vkCreateDescriptorSetLayout(device_, &set, nullptr, &set_layout_), "set layout"));
  VkPipelineLayoutCreateInfo layout{};
  layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  layout.setLayoutCount = 1;
  layout.pSetLayouts = &set_layout_;
  RETURN_IF_ERROR(
      Check(vkCreatePipelineLayout(device_, &layout, nullptr, &layout_), "pipeline layout"));
  VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, bindings.size()};
  VkDescriptorPoolCreateInfo pool{};
  pool.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
  pool.maxSets = 1;
  pool.poolSizeCount = 1;
  pool.pPoolSizes = &size;
  RETURN_IF_ERROR(Check(vkCreateDescriptorPool(device_, &pool, nullptr, &sets_), "pool"));
  VkDescriptorSetAllocateInfo allocate{};
  allocate.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
  allocate.descriptorPool = sets_;
  allocate.descriptorSetCount = 1;
  allocate.pSetLayouts = &set_layout_;
  RETURN_IF_ERROR(Check(vkAllocateDescriptorSets(device_, &allocate, &set_), "set"));
  for (uint32_t i = 0; i < bindings.size(); ++i) {
    const VkDescriptorBufferInfo buffer{i == 0 ? input_.buffer : output_.buffer, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet write{};
    write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    write.dstSet = set_;
    write.dstBinding = i;
    write.descriptorCount = 1;
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    write.pBufferInfo = &buffer;
    vkUpdateDescriptorSets(device_, 1, &write, 0, nullptr);
  }
  return absl::OkStatus();
}

absl::Status ComputeDevice::CreateCommands() {
  VkCommandPoolCreateInfo pool{};
  pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  pool.queueFamilyIndex = kQueueFamily;
  RETURN_IF_ERROR(Check(vkCreateCommandPool(device_, &pool, nullptr, &pool_), "command pool"));
  VkCommandBufferAllocateInfo allocate{};
  allocate.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  allocate.commandPool = pool_;
  allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  allocate.commandBufferCount = 1;
  return Check(vkAllocateCommandBuffers(device_, &allocate, &commands_), "commands");
}

absl::Status ComputeDevice::Dispatch(VkPipeline pipeline) {
  VkCommandBufferBeginInfo begin{};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  RETURN_IF_ERROR(Check(vkBeginCommandBuffer(commands_, &begin), "begin"));
  vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, layout_, 0, 1, &set_, 0,
                          nullptr);
  vkCmdDispatch(commands_, 1, 1, 1);
  RETURN_IF_ERROR(Check(vkEndCommandBuffer(commands_), "end"));
  VkSubmitInfo submit{};
  submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands_;
  RETURN_IF_ERROR(Check(vkQueueSubmit(queue_, 1, &submit, VK_NULL_HANDLE), "submit"));
  return Check(vkQueueWaitIdle(queue_), "wait");
}

absl::StatusOr<std::vector<uint32_t>> ComputeDevice::Run(const std::vector<uint32_t>& module,
                                                         const std::vector<uint32_t>& input) {
  VkShaderModuleCreateInfo code{};
  code.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  code.codeSize = module.size() * sizeof(uint32_t);
  code.pCode = module.data();
  VkShaderModule shader = VK_NULL_HANDLE;
  RETURN_IF_ERROR(Check(vkCreateShaderModule(device_, &code, nullptr, &shader), "shader"));
  VkComputePipelineCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = shader;
  info.stage.pName = "main";
  info.layout = layout_;
  VkPipeline pipeline = VK_NULL_HANDLE;
  absl::Status status = Check(
      vkCreateComputePipelines(device_, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline), "pipeline");
  std::copy_n(input.begin(), std::min(input.size(), words_), input_.words);
  std::fill_n(output_.words, words_, 0);
  if (status.ok()) status = Dispatch(pipeline);
  vkDestroyPipeline(device_, pipeline, nullptr);
  vkDestroyShaderModule(device_, shader, nullptr);
  RETURN_IF_ERROR(status);
  return std::vector<uint32_t>(output_.words, output_.words + words_);
}

ComputeDevice::~ComputeDevice() {
  if (device_ != VK_NULL_HANDLE) {
    vkDestroyCommandPool(device_, pool_, nullptr);
    vkDestroyDescriptorPool(device_, sets_, nullptr);
    vkDestroyPipelineLayout(device_, layout_, nullptr);
    vkDestroyDescriptorSetLayout(device_, set_layout_, nullptr);
    for (const Buffer& buffer : {input_, output_}) {
      vkDestroyBuffer(device_, buffer.buffer, nullptr);
      vkFreeMemory(device_, buffer.memory, nullptr);
    }
    vkDestroyDevice(device_, nullptr);
  }
  if (instance_ != VK_NULL_HANDLE) vkDestroyInstance(instance_, nullptr);
}

}  // namespace galley::worker
