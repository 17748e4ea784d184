#include "worker/executor/all_cookers.h"

#ifdef GALLEY_HAS_COMMAND
#include "worker/cookers/command/command_cooker.h"
#endif
#ifdef GALLEY_HAS_COPY
#include "worker/cookers/copy/copy_cooker.h"
#endif
#ifdef GALLEY_HAS_DATA
#include "worker/cookers/data/data_cooker.h"
#endif
#ifdef GALLEY_HAS_SHADER
#include "worker/cookers/shader/shader_cooker.h"
#endif
#ifdef GALLEY_HAS_TEXTURE
#include "worker/cookers/texture/texture_cooker.h"
#endif

namespace galley::worker {

Cookers AllCookers() {
  Cookers cookers;
#ifdef GALLEY_HAS_COMMAND
  cookers.push_back(CreateCommandCooker());
#endif
#ifdef GALLEY_HAS_COPY
  cookers.push_back(CreateCopyCooker());
#endif
#ifdef GALLEY_HAS_DATA
  cookers.push_back(CreateDataCooker());
#endif
#ifdef GALLEY_HAS_SHADER
  cookers.push_back(CreateShaderCooker());
#endif
#ifdef GALLEY_HAS_TEXTURE
  cookers.push_back(CreateTextureCooker());
#endif
  return cookers;
}

}  // namespace galley::worker
