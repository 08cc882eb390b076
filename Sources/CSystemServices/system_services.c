#include "system_services.h"
