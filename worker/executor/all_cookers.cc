#include "worker/executor/all_cookers.h"

#include "worker/cookers/audio/audio_cooker.h"
#include "worker/cookers/command/command_cooker.h"
#include "worker/cookers/copy/copy_cooker.h"
#include "worker/cookers/data/data_cooker.h"
#include "worker/cookers/mesh/mesh_cooker.h"
#include "worker/cookers/shader/shader_cooker.h"
#include "worker/cookers/texture/texture_cooker.h"

namespace galley::worker {

Cookers AllCookers() {
  Cookers cookers;
  cookers.push_back(CreateAudioCooker());
  cookers.push_back(CreateCommandCooker());
  cookers.push_back(CreateCopyCooker());
  cookers.push_back(CreateDataCooker());
  cookers.push_back(CreateMeshCooker());
  cookers.push_back(CreateShaderCooker());
  cookers.push_back(CreateTextureCooker());
  return cookers;
}

}  // namespace galley::worker
